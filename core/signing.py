"""The key that signs the head of a finished record (Ed25519), and checking a signature with its public half alone.

The key is made when a database is first opened and stands in it, so all processes of one agency sign alike; whoever
can write to the database could then sign again. To keep it elsewhere, name a PEM file in HANDON_SIGNING_KEY.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from core.errors import HandonError
from core.store import Tx
from core.vault import secret

VARIABLE = "HANDON_SIGNING_KEY"


def _said(root: str, lines: int, head: str) -> bytes:
    return f"handon record head\n{root}\n{lines}\n{head}".encode()


class Signer:
    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()

    def sign(self, root: str, lines: int, head: str) -> str:
        """The signature over a whole's head, hex."""
        return self._key.sign(_said(root, lines, head)).hex()


def load(tx: Tx) -> Signer:
    """This agency's key. Raises HandonError where the file that is named holds none."""
    path = os.environ.get(VARIABLE)
    if path:
        try:
            key = load_pem_private_key(Path(path).read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise HandonError(f"{VARIABLE} names {path}, which holds no key that can be read: {error}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise HandonError(f"{VARIABLE} names {path}, whose key is not of the kind Ed25519.")
        return Signer(key)
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret(tx, "signing", size=32))))


def signed(public: str, signature: str, root: str, lines: int, head: str) -> bool:
    """Whether this key signed that head."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
            bytes.fromhex(signature), _said(root, lines, head)
        )
    except (InvalidSignature, ValueError):
        return False
    return True
