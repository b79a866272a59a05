# SPDX-License-Identifier: Apache-2.0
import hypothesis

# No deadline: other work may run beside. What fails can be had again from the printed seed or blob.
hypothesis.settings.register_profile("tilefold", deadline=None, max_examples=200, print_blob=True)
hypothesis.settings.load_profile("tilefold")
