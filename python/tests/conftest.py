# SPDX-License-Identifier: Apache-2.0
import hypothesis
import oracle

# No deadline: other work may run beside. What fails can be had again from the printed seed or blob.
hypothesis.settings.register_profile("tilefold", deadline=None, max_examples=200, print_blob=True)
hypothesis.settings.load_profile("tilefold")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"tilefold: random items had the seed TILEFOLD_TEST_SEED={oracle.SEEDS[-1]}")
