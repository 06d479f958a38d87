"""Stands in for tiktoken in test runs: some inspect-ai counts tokens of mockllm with it, after a download."""


class Words:
    """An encoding with a token a word."""

    def encode(self, text, **options):
        return text.split()


def get_encoding(name):
    return Words()
