"""`countersignd grants`, by the real command."""

from tests.command import run


def test_grants_are_made_listed_required_and_revoked(operator: dict[str, str]) -> None:
    assert run("migrate", **operator).returncode == 0
    assert run("tenants", "create", "dev", **operator).returncode == 0
    made = run(
        *("grants", "create", "--tenant", "dev", "--subject", "admin", "--action", "pay.**", "--delegable"),
        *("--budget", "500.00 EUR", "--expires-in", "30d"),
        **operator,
    )
    assert made.returncode == 0, made.stderr
    grant = made.stdout.strip()

    assert run("grants", "require", "--tenant", "dev", **operator).returncode == 0
    listed = run("grants", "list", "--tenant", "dev", **operator).stdout.splitlines()
    assert listed[0] == "grants are required in dev"
    assert listed[1].split("\t")[:4] == [grant, "admin", "pay.**", "from -"]

    assert run("grants", "revoke", "--tenant", "dev", grant, **operator).returncode == 0
    assert run("grants", "require", "--tenant", "dev", "--off", **operator).returncode == 0
    listed = run("grants", "list", "--tenant", "dev", **operator).stdout.splitlines()
    assert listed[0] == "grants are not required in dev"
    assert listed[1].endswith("revoked")


def test_what_is_no_grant_is_a_sentence(operator: dict[str, str]) -> None:
    assert run("tenants", "create", "dev", **operator).returncode == 0
    of_admin = ("grants", "create", "--tenant", "dev", "--subject", "admin", "--action", "pay")
    for wrong, sentence in ((("--budget", "500"), "currency"), (("--action", "a*b"), "prefix")):
        done = run(*of_admin, *wrong, **operator)
        assert done.returncode == 1
        assert sentence in done.stderr
    unknown = run("grants", "revoke", "--tenant", "dev", "grt_unknown", **operator)
    assert unknown.returncode == 1
    assert "there is no grant grt_unknown" in unknown.stderr
