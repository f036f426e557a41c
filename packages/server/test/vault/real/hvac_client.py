"""Reads by hvac, unchanged: python3 hvac_client.py COMMAND [ENVIRONMENT]"""

import os
import sys

import hvac

command, *rest = sys.argv[1:]
name = rest[0] if rest else "prod"
client = hvac.Client(url=os.environ["VAULT_ADDR"], namespace=os.environ.get("NS") or None)
client.auth.approle.login(role_id=os.environ["ROLE"], secret_id=os.environ["KEY"])
kv = client.secrets.kv.v2


def read():
    answer = kv.read_secret_version(path=name, mount_point="webshop", raise_on_deleted_version=True)
    return answer["data"]["data"]["DATABASE_URL"]


if command == "read":
    print(read())
elif command == "again":
    print(read())
    print("waiting", flush=True)
    input()
    print(read())
elif command == "list":
    print(kv.list_secrets(path="", mount_point="webshop")["data"]["keys"])
elif command == "describe":
    print(kv.read_secret_metadata(path=name, mount_point="webshop")["data"]["current_version"])
elif command == "write":
    kv.create_or_update_secret(path=name, mount_point="webshop", secret={"A": "b"})
elif command == "renew":
    client.token = os.environ["TOKEN"]
    print(client.auth.token.renew_self()["auth"]["lease_duration"])
elif command == "revoke":
    client.auth.token.revoke_self()
    print(client.is_authenticated())
elif command == "many":
    for _ in range(int(os.environ["READS"])):
        read()
    print("reads", os.environ["READS"])
