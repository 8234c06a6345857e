// Curator's locks, for lock_test.cpp. Does what each line of its input says, and answers with one line.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.retry.RetryOneTime;

public class LockPeer {
  private final CuratorFramework client;
  private final Map<String, InterProcessLock> locks = new HashMap<>();
  private final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();
  private final Map<String, List<Lease>> leases = new HashMap<>();
  private final Map<String, DistributedDoubleBarrier> doubleBarriers = new HashMap<>();
  private final Map<String, LeaderLatch> latches = new HashMap<>();
  private final Map<String, Selector> selectors = new HashMap<>();
  private final Map<String, SharedCount> counts = new HashMap<>();
  private final AtomicInteger revocations = new AtomicInteger();

  /// A lock, or the lead: what one contender has at a time.
  private interface Turns {
    /// Waits for the next turn, and returns the node by which it has it.
    String enter() throws Exception;
    void leave() throws Exception;
  }

  /// Leads until it is told to end.
  private static class Selector extends LeaderSelectorListenerAdapter implements Turns {
    final Semaphore begun = new Semaphore(0);
    final Semaphore end = new Semaphore(0);
    final LeaderSelector selector;
    private final CuratorFramework client;
    private final String path;
    Selector(CuratorFramework client, String path, String id) {
      this.client = client;
      this.path = path;
      selector = new LeaderSelector(client, path, this);
      selector.setId(id);
      selector.start();
    }
    public void takeLeadership(CuratorFramework client) throws Exception {
      begun.release();
      end.acquire();
    }
    /// Curator does not tell the node. It must be the first one.
    public String enter() throws Exception {
      selector.requeue();  // the first time it has no effect: start() has done it
      begun.acquire();
      return Collections.min(client.getChildren().forPath(path), Comparator.comparing(LockPeer::number));
    }
    public void leave() {
      end.release();
      while (selector.hasLeadership()) Thread.onSpinWait();  // before that requeue() has no effect
    }
  }

  private static class Latch implements Turns {
    private final CuratorFramework client;
    private final String path;
    private LeaderLatch latch;
    Latch(CuratorFramework client, String path) {
      this.client = client;
      this.path = path;
    }
    public String enter() throws Exception {
      latch = new LeaderLatch(client, path, "curator");
      latch.start();
      latch.await();
      return latch.getOurPath();
    }
    public void leave() throws Exception { latch.close(); }
  }

  private static class Mutex extends InterProcessMutex implements Turns {
    Mutex(CuratorFramework client, String path) { super(client, path); }
    public String enter() throws Exception {
      acquire();
      return getLockPath();
    }
    public void leave() throws Exception { release(); }
  }

  private LockPeer(String servers, int timeout) {
    client = CuratorFrameworkFactory.newClient(servers, timeout, 10_000, new RetryOneTime(100));
    client.start();
  }

  public static void main(String[] arguments) throws Exception {
    LockPeer peer = new LockPeer(arguments[0], 1000 * Integer.parseInt(arguments[1]));
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      String answer;
      try {
        answer = peer.obey(line.split(" "));
      } catch (Exception error) {
        answer = "failed " + error;
      }
      System.out.println(answer);
      System.out.flush();
    }
    peer.client.close();
  }

  private String enterBarrier(String path, int quantity, long milliseconds) throws Exception {
    DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, path, quantity);
    doubleBarriers.put(path, barrier);
    return said(barrier.enter(milliseconds, TimeUnit.MILLISECONDS));
  }

  /// "acquire KIND PATH MS", "release KIND PATH", "permits PATH MAX QUANTITY MS", "return PATH", "participants PATH",
  /// "revocable PATH", "revocations", "revoke NODE", "work KIND PATH THREADS TIMES FILE", "hold KIND PATH FILE",
  /// "close PATH", "open PATH", "pass_barrier PATH MS", "enter_barrier PATH QUANTITY MS", "leave_barrier PATH", "latch PATH ID", "leads PATH", "unlatch PATH",
  /// "latched PATH", "select PATH ID", "selected PATH", "unselect PATH", "selectable PATH",
  /// "add PATH DIFFERENCE TIMES FILE", "followed_count PATH", "value PATH", "count long|int PATH DIFFERENCE TIMES"
  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "acquire": return said(lock(words[1], words[2]).acquire(Long.parseLong(words[3]), TimeUnit.MILLISECONDS));
      case "release": lock(words[1], words[2]).release(); return "yes";
      case "keeps_downgraders": return said(keepsDowngraders());
      case "permits": return permits(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]), Long.parseLong(words[4]));
      case "return": for (Lease lease : leases.remove(words[1])) lease.close(); return "yes";
      case "participants": return "" + ((InterProcessMutex) lock("mutex", words[1])).getParticipantNodes().size();
      case "revocable": ((InterProcessMutex) lock("mutex", words[1])).makeRevocable(held -> revocations.incrementAndGet()); return "yes";
      case "revocations": return "" + revocations.get();
      case "revoke": Revoker.attemptRevoke(client, words[1]); return "yes";
      case "close": new DistributedBarrier(client, words[1]).setBarrier(); return "yes";
      case "open": new DistributedBarrier(client, words[1]).removeBarrier(); return "yes";
      case "pass_barrier":
        return said(new DistributedBarrier(client, words[1]).waitOnBarrier(Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
      case "enter_barrier": return enterBarrier(words[1], Integer.parseInt(words[2]), Long.parseLong(words[3]));
      case "leave_barrier": return said(doubleBarriers.remove(words[1]).leave(20, TimeUnit.SECONDS));
      case "latch": latches.put(words[1], new LeaderLatch(client, words[1], words[2])); latches.get(words[1]).start(); return "yes";
      case "leads": return said(latches.get(words[1]).hasLeadership());
      case "unlatch": latches.remove(words[1]).close(); return "yes";
      case "latched": return ids(latches.get(words[1]).getLeader(), latches.get(words[1]).getParticipants());
      case "select": selectors.put(words[1], new Selector(client, words[1], words[2])); return "yes";
      case "selected": return said(selectors.get(words[1]).selector.hasLeadership());
      case "unselect": selectors.get(words[1]).end.release(); return "yes";
      case "selectable": return ids(selectors.get(words[1]).selector.getLeader(), selectors.get(words[1]).selector.getParticipants());
      case "add":
        return add(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]), Path.of(words[4]));
      case "followed_count": return "" + counts.computeIfAbsent(words[1], this::started).getCount();
      case "value": return value(words[1]);
      case "count": return count(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
      case "work":
        return work(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]), Path.of(words[5]));
      case "hold": note(Path.of(words[3]), "in", number(turns(words[1], words[2]).enter())); return "yes";
      default: throw new IllegalArgumentException(words[0]);
    }
  }

  /// The leader's, and all of them.
  private static String ids(Participant leader, Collection<Participant> participants) {
    StringBuilder text = new StringBuilder(leader.getId());
    for (Participant each : participants) text.append(" ").append(each.getId());
    return text.toString();
  }

  /// From 5.5 on a writer that goes on as a reader has its own number again (CURATOR-621).
  private static boolean keepsDowngraders() {
    return Arrays.stream(StandardLockInternalsDriver.class.getDeclaredMethods())
        .anyMatch(method -> method.getName().equals("getSortingSequence"));
  }

  private static String said(boolean it) { return it ? "yes" : "no"; }

  private InterProcessLock lock(String kind, String path) {
    return locks.computeIfAbsent(kind + " " + path, key -> {
      switch (kind) {
        case "mutex": return new InterProcessMutex(client, path);
        case "semaphore-mutex": return new InterProcessSemaphoreMutex(client, path);
        case "read": return readWriteLocks.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p)).readLock();
        case "write": return readWriteLocks.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p)).writeLock();
        default: throw new IllegalArgumentException(kind);
      }
    });
  }

  private SharedCount started(String path) {
    try {
      SharedCount count = new SharedCount(client, path, 0);
      count.start();
      return count;
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  /// By trySetCount, each time until it succeeds. It notes each value that it is told to have set.
  private String add(String path, int difference, int times, Path log) throws Exception {
    SharedCount count = started(path);
    for (int n = 0; n < times; ++n) {
      VersionedValue<Integer> known = count.getVersionedValue();
      while (!count.trySetCount(known, known.getValue() + difference)) known = count.getVersionedValue();
      note(log, "set", "" + (known.getValue() + difference));
    }
    count.close();
    return "yes";
  }

  private String value(String path) throws Exception {
    SharedValue value = new SharedValue(client, path, new byte[0]);
    value.start();
    String text = new String(value.getValue());
    value.close();
    return text;
  }

  /// Adds so often, each time until it is told to have succeeded, and tells the last sum.
  private String count(String kind, String path, int difference, int times) throws Exception {
    DistributedAtomicLong longs = new DistributedAtomicLong(client, path, new RetryNTimes(1000, 1));
    DistributedAtomicInteger ints = new DistributedAtomicInteger(client, path, new RetryNTimes(1000, 1));
    AtomicValue<? extends Number> sum = null;
    for (int n = 0; n < times; ++n) {
      do sum = kind.equals("long") ? longs.add((long) difference) : ints.add(difference);
      while (!sum.succeeded());
    }
    return "" + sum.postValue();
  }

  private String permits(String path, int max, int quantity, long wait) throws Exception {
    Collection<Lease> taken = new InterProcessSemaphoreV2(client, path, max).acquire(quantity, wait, TimeUnit.MILLISECONDS);
    if (taken == null) return "no";
    leases.computeIfAbsent(path, p -> new ArrayList<>()).addAll(taken);
    return "yes";
  }

  private Turns turns(String kind, String path) {
    switch (kind) {
      case "mutex": return new Mutex(client, path);
      case "latch": return new Latch(client, path);
      case "selector": return new Selector(client, path, "curator");
      default: throw new IllegalArgumentException(kind);
    }
  }

  private static String number(String node) { return node.substring(node.length() - 10); }

  /// Notes what its process has done.
  private static void note(Path log, String word, String number) throws Exception {
    String line = word + " " + ProcessHandle.current().pid() + " " + number + "\n";
    Files.writeString(log, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /// Each thread takes that many turns. It notes when it is in, for a moment, and out.
  private String work(String kind, String path, int threads, int times, Path log) throws Exception {
    AtomicInteger failures = new AtomicInteger();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; ++i) {
      Thread thread = new Thread(() -> {
        try {
          Turns turns = turns(kind, path);
          for (int n = 0; n < times; ++n) {
            String number = number(turns.enter());
            try {
              note(log, "in", number);
              Thread.sleep(1);
              note(log, "out", number);
            } finally {
              turns.leave();
            }
          }
        } catch (Exception error) {
          failures.incrementAndGet();
        }
      });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) thread.join();
    return said(failures.get() == 0);
  }
}
