# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`jupyter acp doctor`: what is wrong with an installation, and what to do about it."""
