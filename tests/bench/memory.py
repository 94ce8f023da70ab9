"""What the processes of a service hold in memory."""

import subprocess


def greatest_process(service: int) -> float:
    """Return the resident megabytes of the greatest of a service's processes: itself, or one that it supervises."""
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
    processes = [tuple(map(int, line.split())) for line in listed.splitlines()]
    return max(kilobytes for process, parent, kilobytes in processes if service in {process, parent}) / 1024
