"""What every test stands on."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.skips"]

# How fast the machine is decides no test.
settings.register_profile(
    "patient",
    parent=settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, *settings().suppress_health_check],
)
settings.load_profile("patient")
