// Curator's locks, for the fault campaign. Does what each line of its input says, and answers with one line.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.RetryLoop;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

public class ForeignPeer {
  private final String servers;
  private final int timeout;
  private final String data;
  private CuratorFramework client;
  private Lock lock;
  private String node;

  /// What is asked of each of Curator's locks.
  private interface Lock {
    boolean acquire(long milliseconds) throws Exception;
    String node() throws Exception;
    void release() throws Exception;
  }

  private static class Mutex extends InterProcessMutex implements Lock {
    Mutex(CuratorFramework client, String path) { super(client, path); }
    public boolean acquire(long milliseconds) throws Exception { return acquire(milliseconds, TimeUnit.MILLISECONDS); }
    public String node() { return getLockPath(); }
  }

  /// One half of a lock for readers and writers, which keeps its node to itself.
  private class Half implements Lock {
    private final InterProcessMutex half;
    private final String path;
    Half(String path, boolean writes) {
      this.path = path;
      InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, path);
      half = writes ? both.writeLock() : both.readLock();
    }
    public boolean acquire(long milliseconds) throws Exception {
      return half.acquire(milliseconds, TimeUnit.MILLISECONDS);
    }
    /// The session has no other one: it wants one lock at a time.
    public String node() throws Exception {
      List<String> own = ephemerals();
      if (own.size() != 1 || !own.get(0).startsWith(path + "/")) throw new IllegalStateException("which node?");
      return own.get(0);
    }
    public void release() throws Exception { half.release(); }
  }

  /// What its InterProcessSemaphoreMutex consists of; that one does not tell its node.
  private static class Single implements Lock {
    private final InterProcessSemaphoreV2 semaphore;
    private final String path;
    private Lease lease;
    Single(CuratorFramework client, String path) {
      this.path = path;
      semaphore = new InterProcessSemaphoreV2(client, path, 1);
    }
    public boolean acquire(long milliseconds) throws Exception {
      lease = semaphore.acquire(milliseconds, TimeUnit.MILLISECONDS);
      return lease != null;
    }
    public String node() { return path + "/leases/" + lease.getNodeName(); }
    public void release() { semaphore.returnLease(lease); }
  }

  private Lock lockOf(String kind, String path) {
    switch (kind) {
      case "curator": return new Mutex(client, path);
      case "read": return new Half(path, false);
      case "write": return new Half(path, true);
      case "single": return new Single(client, path);
      default: throw new IllegalArgumentException(kind);
    }
  }

  private ForeignPeer(String[] arguments) {
    servers = arguments[0];
    timeout = Integer.parseInt(arguments[1]);
    data = arguments[2];
    connect();
  }

  private void connect() {
    client = CuratorFrameworkFactory.builder()
                 .connectString(servers)
                 .sessionTimeoutMs(timeout)
                 .connectionTimeoutMs(timeout / 2)
                 .retryPolicy(new RetryUntilElapsed(15_000, 50))
                 .defaultData(data.getBytes())
                 .build();
    client.start();
  }

  /// Arguments: servers, the session timeout in milliseconds, the data of the nodes. Its end is sudden, as that of a
  /// killed process, unless it is told to close.
  public static void main(String[] arguments) throws Exception {
    ForeignPeer peer = new ForeignPeer(arguments);
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      String answer;
      try {
        answer = peer.obey(line.split(" "));
      } catch (Exception error) {
        answer = "failed " + error.getClass().getSimpleName();
      }
      System.out.println(answer);
      System.out.flush();
    }
    Runtime.getRuntime().halt(0);
  }

  /// "acquire KIND PATH MS", of which KIND is "curator" (a mutex), "read", "write" or "single"; "mark"; "release";
  /// "renew": a new session; "close".
  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "acquire": return acquire(words[1], words[2], Long.parseLong(words[3]));
      case "mark": return mark();
      case "release": lock.release(); leaveNothing(); return "yes";
      case "renew": client.close(); connect(); return "yes";
      case "close": client.close(); return "yes";
      default: throw new IllegalArgumentException(words[0]);
    }
  }

  private String acquire(String kind, String path, long milliseconds) throws Exception {
    lock = lockOf(kind, path);
    if (!lock.acquire(milliseconds)) {
      leaveNothing();
      return "timed_out";
    }
    node = lock.node();
    Stat stat = client.checkExists().forPath(node);
    return stat == null ? "failed lost" : "granted " + stat.getCzxid();
  }

  /// A transaction at which it holds the lock; "no" when its node is gone.
  private String mark() throws Exception {
    try {
      client.transaction().forOperations(client.transactionOp().check().forPath(node),
                                         client.transactionOp().setData().forPath("/marks", new byte[0]));
      return "yes";
    } catch (KeeperException.NoNodeException gone) {
      return "no";
    }
  }

  /// Of a node whose reply was lost, Curator may make another one, and forget the first.
  private void leaveNothing() throws Exception {
    if (!ephemerals().isEmpty()) throw new IllegalStateException("a node is left");
  }

  private List<String> ephemerals() throws Exception {
    return RetryLoop.callWithRetry(client.getZookeeperClient(),
                                   () -> client.getZookeeperClient().getZooKeeper().getEphemerals());
  }
}
