import pytest

from intent_runtime import Intent
from support.provider_server import ProviderServer
from support.provider_wires import WIRES, executor_for


@pytest.fixture(scope="module")
def server():
    with ProviderServer() as running:
        yield running


@pytest.fixture(params=WIRES, ids=[wire.name for wire in WIRES])
def wire(request):
    return request.param


@pytest.fixture
def parse(server, wire):
    """Parses a text with the provider, once the server knows its replies."""

    def run(*replies, text="Look up order 000123", schema=None, intent=None, **options):
        server.play(*replies)
        with Intent(
            executor=executor_for(wire, server, **options), schema=schema, **(intent or {})
        ) as one:
            return one.parse_sync(text)

    return run
