# The service, without a compiler, a shell history or root. Build: docker build -t countersign .
FROM python:3.13-slim-trixie AS build

WORKDIR /src
COPY deploy/requirements.txt deploy/requirements-build.txt deploy/
RUN python -m venv /opt/countersign \
 && python -m venv /opt/build \
 && /opt/countersign/bin/pip install --no-cache-dir --no-deps --require-hashes -r deploy/requirements.txt \
 && /opt/build/bin/pip install --no-cache-dir --no-deps --require-hashes -r deploy/requirements-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY migrations migrations
RUN /opt/build/bin/hatchling build --target wheel --directory dist \
 && /opt/countersign/bin/pip install --no-cache-dir --no-deps --no-index dist/*.whl

FROM python:3.13-slim-trixie

RUN useradd --system --uid 8321 --no-create-home --shell /usr/sbin/nologin countersign \
 && install --directory --owner countersign --mode 0700 /var/lib/countersign
COPY --from=build /opt/countersign /opt/countersign

ENV PATH=/opt/countersign/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    COUNTERSIGN_HOST=0.0.0.0 \
    COUNTERSIGN_PORT=8321
USER countersign
EXPOSE 8321
HEALTHCHECK --interval=10s --timeout=4s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"COUNTERSIGN_PORT\"]}/healthz', timeout=3)"]

# SIGTERM ends it gracefully: what is in flight is finished first.
ENTRYPOINT ["countersignd"]
CMD ["serve"]
