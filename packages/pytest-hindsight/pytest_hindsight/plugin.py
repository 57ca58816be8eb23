"""The fixtures of pytest."""
import pytest

from .server import Hindsight


def pytest_addoption(parser):
    group = parser.getgroup("hindsight")
    group.addoption("--hindsight-program", metavar="PATH",
                    help="the program of the fixture 'hindsight'; else that of HINDSIGHT_PROGRAM, or 'hindsight' on PATH")


@pytest.fixture(scope="session")
def hindsight_server(request):
    """A server in test mode for the whole session; tests share its telemetry."""
    with Hindsight(program=request.config.getoption("--hindsight-program")) as server:
        yield server


@pytest.fixture
def hindsight(hindsight_server):
    """The server of the session, without telemetry and with the machine's clock."""
    hindsight_server.clock.follow_machine()
    hindsight_server.reset()
    return hindsight_server


@pytest.fixture
def expect(hindsight):
    """`expect(requests).where(name="GET /").count(3)`"""
    return hindsight.expect
