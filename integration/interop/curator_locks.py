from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo.retry import ForceRetryError

class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]

class CuratorWriteLock(WriteLock):
    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["__READ__", "__WRIT__"]

class CuratorReadLock(ReadLock):
    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]

    # Up to Kazoo 2.8 a reader waits for writers behind it, too, and they wait for it (kazoo#649). Later ones do without.
    def _get_predecessor(self, node):
        children = self.client.get_children(self.path)
        if node not in children:  # deleted, or its session has ended: start over
            raise ForceRetryError()
        writers = filter(None, map(self._contenders_re.search, children))
        ahead = [writer for writer in writers if writer.group(1) < node[len(self.prefix):]]
        return max(ahead, key=lambda writer: writer.group(1)).string if ahead else None
