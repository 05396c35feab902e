"""A Ray cluster of two nodes on this machine, in a process of its own, which takes orders on its standard input.

It prints the address as JSON. ``kill`` ends the second node at once, as a loss of power does; ``add`` starts another.
"""

import json
import sys

from ray.cluster_utils import Cluster

SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


def main(nodes):
    cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
    others = [cluster.add_node(**SMALL) for _ in range(nodes - 1)]
    print(json.dumps({"address": cluster.address}), flush=True)  # noqa: T201
    for order in sys.stdin:
        if order.strip() == "kill":
            cluster.remove_node(others.pop(), allow_graceful=False)
        elif order.strip() == "add":
            others.append(cluster.add_node(**SMALL))
        print(json.dumps({"done": order.strip()}), flush=True)  # noqa: T201
    cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
