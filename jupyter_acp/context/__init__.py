# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent is told with a message about the user's editor: a text that a model can use."""
