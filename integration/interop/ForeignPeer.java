// Curator's mutexes, for the fault campaign. Does what each line of its input says, and answers with one line.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.RetryLoop;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

public class ForeignPeer {
  private final String servers;
  private final int timeout;
  private final String data;
  private CuratorFramework client;
  private Mutex mutex;
  private String node;

  /// Its nodes have the data of the campaign's processes.
  private static class Mutex extends InterProcessMutex {
    private final byte[] data;
    Mutex(CuratorFramework client, String path, String data) {
      super(client, path);
      this.data = data.getBytes();
    }
    protected byte[] getLockNodeBytes() { return data; }
    String node() { return getLockPath(); }
  }

  private ForeignPeer(String[] arguments) {
    servers = arguments[0];
    timeout = Integer.parseInt(arguments[1]);
    data = arguments[2];
    connect();
  }

  private void connect() {
    client = CuratorFrameworkFactory.newClient(servers, timeout, timeout / 2, new RetryUntilElapsed(15_000, 50));
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

  /// "acquire NAMES PATH MS", of which NAMES is always "curator"; "mark"; "release"; "renew": a new session; "close".
  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "acquire": return acquire(words[2], Long.parseLong(words[3]));
      case "mark": return mark();
      case "release": mutex.release(); leaveNothing(); return "yes";
      case "renew": client.close(); connect(); return "yes";
      case "close": client.close(); return "yes";
      default: throw new IllegalArgumentException(words[0]);
    }
  }

  private String acquire(String path, long milliseconds) throws Exception {
    mutex = new Mutex(client, path, data);
    if (!mutex.acquire(milliseconds, TimeUnit.MILLISECONDS)) {
      leaveNothing();
      return "timed_out";
    }
    node = mutex.node();
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
    List<String> left = RetryLoop.callWithRetry(client.getZookeeperClient(),
                                                () -> client.getZookeeperClient().getZooKeeper().getEphemerals());
    if (!left.isEmpty()) throw new IllegalStateException("a node is left");
  }
}
