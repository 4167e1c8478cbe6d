"""The demo: the command `demo`, and the look for a model on this machine that only it takes (`local_models`).

Its invented readers are in `sample`.
"""
