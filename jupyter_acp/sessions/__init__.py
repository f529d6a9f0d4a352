# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""Sessions that belong to the server: windows and agents come and go, the transcript stays."""
