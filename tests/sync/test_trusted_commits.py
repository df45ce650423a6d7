"""The address by which a remote is recognised."""

import pytest

from ademem.sync.trusted_commits import plain_address


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("git@github.com:team/shop.git", "github.com/team/shop"),
        ("ssh://git@github.com/team/shop.git", "github.com/team/shop"),
        ("https://github.com/team/shop", "github.com/team/shop"),
        ("https://ann:secret@GitHub.com/team/shop.git/", "github.com/team/shop"),
        ("https://github.com/team/Shop", "github.com/team/Shop"),
        ("ssh://git@forge.example:2222/team/shop", "forge.example:2222/team/shop"),
        ("/srv/git/shop.git", "/srv/git/shop"),
        ("file:///srv/git/shop.git", "/srv/git/shop"),
        ("", ""),
    ],
)
def test_protocol_and_user_do_not_count(address, plain):
    assert plain_address(address) == plain
