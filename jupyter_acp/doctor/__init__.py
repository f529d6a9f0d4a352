# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`jupyter acp doctor`: a report about problems of an installation, with advice."""
