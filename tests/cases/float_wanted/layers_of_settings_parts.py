SETTINGS = {"alpha": 2, "slope": 1, "eps": 1, "drop": 0, "groups": 2}


def setting(name, default=None):
    return SETTINGS.get(name, default)
