# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""What an agent may ask of us, one module a service; `dispatch` composes them."""
