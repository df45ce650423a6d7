"""What every test stands on."""

pytest_plugins = ["pytester", "tests.skips"]
