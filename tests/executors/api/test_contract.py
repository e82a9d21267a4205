"""The executor contract on every provider's executor, over a real socket."""

import pytest

from intent_runtime.testing import ExecutorContract
from support.candidates import core_candidate
from support.provider_server import Reply
from support.provider_wires import KEY, executor_for


@pytest.mark.slow
class TestApiExecutors(ExecutorContract):
    secrets = (KEY,)

    @pytest.fixture(autouse=True)
    def _provider(self, server, wire):
        server.play(Reply(wire.success(core_candidate())))
        self.make = lambda: executor_for(wire, server)

    def executor(self):
        return self.make()
