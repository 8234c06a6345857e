// Curator's leaders, counts, caches, groups and nodes: programs of bench/recipes, with the same words, orders and
// answers.

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;

public class CuratorRecipes {
  private final String program;
  private final Map<String, String> words = new HashMap<>();
  private final List<CuratorFramework> clients = new ArrayList<>();
  private final List<CuratorCache> caches = new ArrayList<>();
  private final List<GroupMember> views = new ArrayList<>();
  private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
  private final Map<String, List<String>> spans = new ConcurrentHashMap<>();  // of time, by what took it
  private volatile boolean stopping;
  private volatile long connected;
  private volatile long present;

  public static void main(String[] arguments) throws Exception {
    CuratorRecipes recipes = new CuratorRecipes(arguments);
    if (!recipes.program.equals("caches")) recipes.connect();
    if (recipes.program.equals("comer")) recipes.joinGroup();
    if (recipes.program.equals("kept-node")) recipes.keepNode();
    say("ready");
    for (String line = orders.readLine(); line != null; line = orders.readLine()) say(recipes.obey(line));
    System.exit(0);  // the sessions end by their timeouts: nothing waits for them
  }

  private CuratorRecipes(String[] arguments) {
    program = arguments[0];
    for (String word : arguments) {
      String[] pair = word.split("=", 2);
      if (pair.length == 2) words.put(pair[0], pair[1]);
    }
  }

  private String obey(String line) throws Exception {
    String[] order = line.split(" ");
    switch (order[0]) {
      case "run": return run(Long.parseLong(order[1]), Long.parseLong(order[2]));
      case "acquire": return lead();
      case "open": return open();
      case "await":
        return order.length == 1 ? awaitNode() : awaitTree(Integer.parseInt(order[1]), Long.parseLong(order[2]));
      case "follow": return follow();
      case "close": return closeCaches();
      case "session": return credentials();
      default: throw new IllegalArgumentException(line);
    }
  }

  private int number(String key, int otherwise) {
    return words.containsKey(key) ? Integer.parseInt(words.get(key)) : otherwise;
  }

  private void connect() throws Exception {
    for (int i = 0; i < number("clients", 1); i++) {
      clients.add(CuratorFrameworkFactory.newClient(
          words.get("servers"), number("timeout", 10_000), 10_000, new ExponentialBackoffRetry(100, 5)));
      clients.get(i).start();
    }
    for (CuratorFramework client : clients) client.blockUntilConnected();
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }

  private static double millisecondsSince(long began) {
    return (System.nanoTime() - began) * 1e-6;
  }

  // A measured time

  /// Works until it is `stopping`, and once at least.
  private interface Worker {
    void work() throws Exception;
  }

  private List<Worker> workers() {
    List<Worker> workers = new ArrayList<>();
    switch (program) {
      case "candidates": for (CuratorFramework client : clients) workers.add(() -> stand(client)); break;
      case "counters": for (CuratorFramework client : clients) workers.add(() -> increment(client)); break;
      case "count-listener": workers.add(this::setAndHear); break;
      case "atomics":
        for (int i = 0; i < number("waiters", 1); i++) {
          CuratorFramework client = clients.get(i % clients.size());
          workers.add(() -> incrementAtomic(client));
        }
        break;
      case "double-barriers":
        Map<Integer, Boolean> isLast = new ConcurrentHashMap<>();
        for (int i = 0; i < number("waiters", 1); i++) {
          CuratorFramework client = clients.get(i % clients.size());
          workers.add(() -> meet(client, isLast));
        }
        break;
      case "comer": workers.add(this::comeAndGo); break;
      default: throw new IllegalArgumentException(program);
    }
    return workers;
  }

  private void add(String kind, long from, long to) {
    spans.computeIfAbsent(kind, any -> Collections.synchronizedList(new ArrayList<>()))
        .add("[" + from + ", " + to + "]");
  }

  private String run(long ramp, long length) throws Exception {
    stopping = false;
    spans.clear();
    long before = grown();
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> working = new ArrayList<>();
    for (Worker worker : workers()) {
      working.add(threads.submit(() -> {
        worker.work();
        return null;
      }));
    }
    Thread.sleep(ramp);
    say("begin");
    long cpuBefore = system.getProcessCpuTime();
    long began = System.nanoTime();
    Thread.sleep(length);
    long ended = System.nanoTime();
    double cpu = (system.getProcessCpuTime() - cpuBefore) * 1e-9;
    say("end");
    stopping = true;
    for (Future<?> each : working) each.get();
    threads.shutdown();
    long grown = grown() - before;
    String all = spans.entrySet().stream().map(each -> "\"" + each.getKey() + "\": " + each.getValue())
        .collect(Collectors.joining(", "));
    return format("{\"began\": %d, \"ended\": %d, \"cpu_seconds\": %f, \"grown\": %d, \"spans\": {%s}}",
        began, ended, cpu, grown, all);
  }

  // Leaders

  private void stand(CuratorFramework client) throws Exception {
    do leadOnce(client); while (!stopping);
  }

  /// The listener hears of the grant before a thread in await() does.
  private void leadOnce(CuratorFramework client) throws Exception {
    LeaderLatch latch = new LeaderLatch(client, words.get("path"), "candidate");
    CountDownLatch leads = new CountDownLatch(1);
    long[] led = new long[1];
    latch.addListener(new LeaderLatchListener() {
      @Override public void isLeader() {
        led[0] = System.nanoTime();
        leads.countDown();
      }
      @Override public void notLeader() {}
    });
    latch.start();
    leads.await();
    if (number("hold", 0) > 0) Thread.sleep(number("hold", 0));
    add("turns", led[0], System.nanoTime());
    latch.close();
  }

  private String lead() throws Exception {
    LeaderLatch latch = new LeaderLatch(clients.get(0), words.get("path"), "candidate");
    latch.start();
    latch.await();
    return "held";
  }

  // Counts

  private SharedCount count(CuratorFramework client) throws Exception {
    SharedCount count = new SharedCount(client, words.get("path"), 0);
    count.start();
    return count;
  }

  private long grown() throws Exception {
    if (program.equals("counters")) return readCount();
    return program.equals("atomics") ? atomic(clients.get(0)).get().postValue() : 0;
  }

  /// As its documentation has it, with a few tries more, since many threads want the counter.
  private DistributedAtomicLong atomic(CuratorFramework client) {
    return new DistributedAtomicLong(client, words.get("path"), new RetryNTimes(100, 1));
  }

  private void incrementAtomic(CuratorFramework client) throws Exception {
    DistributedAtomicLong count = atomic(client);
    do {
      long asked = System.nanoTime();
      AtomicValue<Long> result = count.increment();
      if (result.succeeded()) add("increments", asked, System.nanoTime());
    } while (!stopping);
  }

  /// All members end after the same round, and each round has a path of its own: members that enter again meet those
  /// that still leave.
  private void meet(CuratorFramework client, Map<Integer, Boolean> isLast) throws Exception {
    for (int round = 0;; round++) {
      long asked = System.nanoTime();
      DistributedDoubleBarrier barrier =
          new DistributedDoubleBarrier(client, words.get("path") + "/" + round, number("waiters", 1));
      barrier.enter();
      barrier.leave();
      add("rounds", asked, System.nanoTime());
      if (isLast.computeIfAbsent(round, any -> stopping)) return;
    }
  }

  /// By the server: what begins reads first.
  private int readCount() throws Exception {
    try (SharedCount count = count(clients.get(0))) {
      return count.getCount();
    }
  }

  private void increment(CuratorFramework client) throws Exception {
    try (SharedCount count = count(client)) {
      do {
        long asked = System.nanoTime();
        VersionedValue<Integer> known = count.getVersionedValue();
        while (!count.trySetCount(known, known.getValue() + 1)) known = count.getVersionedValue();
        add("increments", asked, System.nanoTime());
      } while (!stopping);
    }
  }

  private void setAndHear() throws Exception {
    BlockingQueue<long[]> told = new LinkedBlockingQueue<>();
    try (SharedCount count = count(clients.get(0)); SharedCount followed = count(clients.get(1))) {
      followed.addListener(new SharedCountListener() {
        @Override public void countHasChanged(SharedCountReader reader, int value) {
          told.add(new long[] {value, System.nanoTime()});
        }
        @Override public void stateChanged(CuratorFramework client, ConnectionState state) {}
      });
      int next = count.getCount();
      do {
        long asked = System.nanoTime();
        next++;
        count.setCount(next);
        long[] heard = told.take();
        while (heard[0] != next) heard = told.take();
        add("heard", asked, heard[1]);
      } while (!stopping);
    }
  }

  // Caches

  private String open() throws Exception {
    connect();
    long heapBefore = usedHeap();
    long cpuBefore = system.getProcessCpuTime();
    long began = System.nanoTime();
    CountDownLatch initialized = new CountDownLatch(clients.size());
    for (CuratorFramework client : clients) {
      CuratorCache cache = CuratorCache.build(client, words.get("path"));
      caches.add(cache);
      cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(initialized::countDown).build());
      cache.start();
    }
    initialized.await();
    double ms = millisecondsSince(began);
    double cpu = (system.getProcessCpuTime() - cpuBefore) * 1e-6;
    long nodes = 0;
    for (CuratorCache cache : caches) nodes += cache.size();
    double bytes = (usedHeap() - heapBefore) / (double) nodes;
    return format("{\"initialized_ms\": %f, \"cpu_ms\": %f, \"bytes\": %f}", ms, cpu, bytes);
  }

  /// After what is no longer used is gone.
  private static long usedHeap() throws Exception {
    for (int i = 0; i < 3; i++) System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /// The sum of all mzxids says which state of the tree it is.
  private static boolean shows(CuratorCache cache, int count, long sum) {
    return cache.size() == count && cache.stream().mapToLong(node -> node.getStat().getMzxid()).sum() == sum;
  }

  private String awaitTree(int count, long sum) throws Exception {
    long began = System.nanoTime();
    for (CuratorCache cache : caches) {
      while (!shows(cache, count, sum)) {
        if (millisecondsSince(began) > 50_000) throw new IllegalStateException("a cache is not right in time");
        Thread.sleep(2);
      }
    }
    return format("{\"right_ms\": %f}", millisecondsSince(began));
  }

  private static class Shown {
    final String path;
    final long mzxid;
    final long at = System.nanoTime();

    Shown(String path, long mzxid) {
      this.path = path;
      this.mzxid = mzxid;
    }

    @Override public String toString() {
      return "[\"" + path + "\", " + mzxid + ", " + at + "]";
    }
  }

  private String follow() throws Exception {
    List<Shown> shown = Collections.synchronizedList(new ArrayList<>());
    CuratorCacheListener listener = CuratorCacheListener.builder().forChanges(
        (before, node) -> shown.add(new Shown(node.getPath(), node.getStat().getMzxid()))).build();
    caches.get(0).listenable().addListener(listener);
    say("begin");
    long cpuBefore = system.getProcessCpuTime();
    String[] state = orders.readLine().split(" ");
    awaitTree(Integer.parseInt(state[0]), Long.parseLong(state[1]));
    Thread.sleep(50);  // what is shown is told a moment later
    double cpu = (system.getProcessCpuTime() - cpuBefore) * 1e-9;
    say("end");
    caches.get(0).listenable().removeListener(listener);
    return format("{\"cpu_seconds\": %f, \"shown\": %s}", cpu, shown);
  }

  private String closeCaches() {
    for (CuratorFramework client : clients) client.close();
    clients.clear();
    caches.clear();
    return "{}";
  }

  // A group

  private GroupMember member(CuratorFramework client, String id) {
    GroupMember member = new GroupMember(client, words.get("path"), id);
    member.start();
    return member;
  }

  /// Asks again and again: nothing tells.
  private void awaitViews(Predicate<Map<String, byte[]>> right) {
    for (GroupMember view : views)
      while (!right.test(view.getCurrentMembers())) LockSupport.parkNanos(200_000);
  }

  private void joinGroup() {
    for (int i = 1; i < clients.size(); i++) views.add(member(clients.get(i), "member-" + i));
    awaitViews(members -> members.size() == views.size());
  }

  private void comeAndGo() {
    do {
      long started = System.nanoTime();
      GroupMember comer = member(clients.get(0), "comer");
      awaitViews(members -> members.containsKey("comer"));
      add("joined", started, System.nanoTime());
      long closed = System.nanoTime();
      comer.close();
      awaitViews(members -> !members.containsKey("comer"));
      add("left", closed, System.nanoTime());
    } while (!stopping);
  }

  // A node

  private void keepNode() throws Exception {
    clients.get(0).getConnectionStateListenable().addListener((client, state) -> {
      if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) connected = System.nanoTime();
    });
    PersistentNode node = new PersistentNode(
        clients.get(0), CreateMode.EPHEMERAL, false, words.get("path"), "data".getBytes());
    CountDownLatch made = new CountDownLatch(1);
    node.getListenable().addListener(path -> {
      present = System.nanoTime();
      made.countDown();
    });
    node.start();
    made.await();
  }

  private String credentials() throws Exception {
    StringBuilder digits = new StringBuilder();
    for (byte each : clients.get(0).getZookeeperClient().getZooKeeper().getSessionPasswd())
      digits.append(format("%02x", each));
    present = 0;
    return format("{\"end\": \"%d %s\"}", clients.get(0).getZookeeperClient().getZooKeeper().getSessionId(), digits);
  }

  private String awaitNode() throws Exception {
    long began = System.nanoTime();
    while (present == 0) {
      if (millisecondsSince(began) > 20_000) throw new IllegalStateException("the node does not come back");
      Thread.sleep(0, 200_000);
    }
    double gap = (present - connected) * 1e-3;
    long asked = System.nanoTime();
    clients.get(0).create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
        .forPath(words.get("path") + "-", "data".getBytes());
    return format("{\"present_us\": %f, \"create_us\": %f}", gap, millisecondsSince(asked) * 1000);
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
