// Curator as a subject of the benchmark: the same words, orders and replies as bench/driver/main.cpp.
//
// The tasks "turns" and "tries" are those of bench/driver/zklock_work.hpp.
// "curator-shared": the waiters of a process share one mutex object. "curator-own": an object for each, on one session.
// "curator": an object for each, on as many sessions as the task says. "hold" acquires the lock for each line of input,
// prints "held", and holds it until it is killed.

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorBench {
  private final String subject;
  private final Map<String, String> words = new HashMap<>();
  private final List<CuratorFramework> clients = new ArrayList<>();
  private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final List<Worker> workers = new ArrayList<>();
  private volatile boolean stopping;
  private volatile boolean counting;

  public static void main(String[] arguments) throws Exception {
    CuratorBench bench = new CuratorBench(arguments);
    say("ready");
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      if (bench.subject.equals("hold")) {
        new InterProcessMutex(bench.clients.get(0), bench.path(0)).acquire();
        say("held");
        continue;
      }
      String[] order = line.split(" ");
      if (!order[0].equals("run")) throw new IllegalArgumentException(line);
      bench.run(Long.parseLong(order[1]), Long.parseLong(order[2]));
    }
    System.exit(0);  // the sessions end by their timeouts: nothing waits for them
  }

  private CuratorBench(String[] arguments) throws Exception {
    subject = arguments[0];
    for (String word : Arrays.asList(arguments).subList(1, arguments.length)) {
      String[] pair = word.split("=", 2);
      words.put(pair[0], pair[1]);
    }
    for (int i = 0; i < number("clients", number("sessions", 1)); i++) {
      clients.add(CuratorFrameworkFactory.newClient(
          words.get("servers"), number("timeout", 10_000), 10_000, new ExponentialBackoffRetry(100, 5)));
      clients.get(i).start();
    }
    for (CuratorFramework client : clients) client.blockUntilConnected();
  }

  private int number(String key, int otherwise) {
    return words.containsKey(key) ? Integer.parseInt(words.get(key)) : otherwise;
  }

  private String path(int waiter) {
    int locks = number("locks", 1);
    return words.getOrDefault("path", "/bench") + (locks == 1 ? "/lock" : "/lock-" + waiter % locks);
  }

  private class Worker extends Thread {
    final String name;
    final InterProcessLock lock;
    final long interval;
    float[] latencies = new float[1024];
    int timed;
    long cycles;

    Worker(String name, InterProcessLock lock, long interval) {
      this.name = name;
      this.lock = lock;
      this.interval = interval;
    }

    @Override public void run() {
      try {
        work();
      } catch (InterruptedException expected) {
        // the window closed while this worker was in the queue
      } catch (Exception error) {
        if (!stopping) error.printStackTrace();
      }
    }

    void work() throws Exception {
      switch (words.getOrDefault("task", "lock")) {
        case "re-entry": enterAgain(); break;
        case "tries": keepTrying(); break;
        default: while (!stopping) cycle();
      }
    }

    void cycle() throws Exception {
      long asked = System.nanoTime();
      lock.acquire();
      lock.release();
      if (counting) add(System.nanoTime() - asked);
      if (interval > 0) Thread.sleep(Math.max(0, interval - (System.nanoTime() - asked) / 1_000_000));
    }

    private void keepTrying() throws Exception {
      while (!stopping) {
        long asked = System.nanoTime();
        if (lock.acquire(0, TimeUnit.MILLISECONDS)) throw new IllegalStateException("two holders");
        if (counting) add(System.nanoTime() - asked);
      }
    }

    private void enterAgain() throws Exception {
      lock.acquire();
      while (!stopping) {
        for (int i = 0; i < 100; i++) {
          lock.acquire();
          lock.release();
        }
        if (counting) cycles += 100;
      }
      lock.release();
    }

    void add(long nanoseconds) {
      if (timed == latencies.length) latencies = Arrays.copyOf(latencies, 2 * timed);
      latencies[timed++] = nanoseconds / 1000f;
      cycles++;
    }
  }

  /// Acquires and releases by one client after the other; what the clients after the first do is counted apart, too.
  private final class TurnTaker extends Worker {
    final Worker[] parts;
    final Worker others = new Worker("others", null, 0);

    TurnTaker() {
      super("locks", null, 0);
      parts = new Worker[number("waiters", 1)];
      for (int i = 0; i < parts.length; i++)
        parts[i] = new Worker("", new InterProcessMutex(clients.get(i % clients.size()), path(i)), 0);
    }

    @Override void work() throws Exception {
      while (!stopping) {
        for (int i = 0; i < parts.length; i++)
          for (int left = i == 0 ? number("turn", 1) : 1; left > 0 && !stopping; left--) parts[i].cycle();
      }
    }

    void settle() {
      for (int i = 0; i < parts.length; i++) {
        for (int j = 0; j < parts[i].timed; j++) {
          add((long) (parts[i].latencies[j] * 1000));
          if (i > 0) others.add((long) (parts[i].latencies[j] * 1000));
        }
      }
    }
  }

  private void run(long ramp, long length) throws Exception {
    makeWorkers();
    stopping = false;
    InterProcessMutex held = new InterProcessMutex(clients.get(0), path(0));
    boolean holds = words.getOrDefault("task", "lock").equals("tries");
    if (holds) held.acquire();
    for (Worker worker : workers) worker.start();
    Thread.sleep(ramp);
    say("begin");
    long cpuBefore = system.getProcessCpuTime();
    long began = System.nanoTime();
    counting = true;
    Thread.sleep(length);
    counting = false;
    double seconds = (System.nanoTime() - began) * 1e-9;
    double cpu = (system.getProcessCpuTime() - cpuBefore) * 1e-9;
    say("end");
    stopping = true;
    if (workers.size() > 1) for (Worker worker : workers) worker.interrupt();
    for (Worker worker : workers) worker.join();
    if (holds) held.release();
    for (Worker worker : List.copyOf(workers)) {
      if (!(worker instanceof TurnTaker)) continue;
      ((TurnTaker) worker).settle();
      workers.add(((TurnTaker) worker).others);
    }
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "{\"seconds\": %f, \"cpu_seconds\": %f", seconds, cpu));
    for (String name : List.of("locks", "reads", "writes", "others", "tries")) report(name, line);
    say(line.append("}").toString());
  }

  private void makeWorkers() {
    workers.clear();
    InterProcessLock shared = new InterProcessMutex(clients.get(0), path(0));
    if (words.getOrDefault("task", "lock").equals("read-write")) {
      for (int i = 0; i < number("readers", 0) + number("writers", 0); i++) {
        boolean reads = i < number("readers", 0);
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(clients.get(i % clients.size()), path(0));
        workers.add(new Worker(reads ? "reads" : "writes", reads ? lock.readLock() : lock.writeLock(),
            reads ? 0 : number("write-every", 0)));
      }
      return;
    }
    if (words.getOrDefault("task", "lock").equals("turns")) {
      workers.add(new TurnTaker());
      return;
    }
    if (words.getOrDefault("task", "lock").equals("tries")) {
      workers.add(new Worker("tries", new InterProcessMutex(clients.get(1), path(1)), 0));
      return;
    }
    for (int i = 0; i < number("waiters", 1); i++) {
      workers.add(new Worker("locks", subject.equals("curator-shared")
          ? shared : new InterProcessMutex(clients.get(i % clients.size()), path(i)), 0));
    }
  }

  private void report(String name, StringBuilder line) {
    int timed = 0;
    long cycles = 0;
    boolean any = false;
    for (Worker worker : workers) {
      if (!worker.name.equals(name)) continue;
      any = true;
      timed += worker.timed;
      cycles += worker.cycles;
    }
    if (!any) return;
    float[] all = new float[timed];
    int filled = 0;
    for (Worker worker : workers) {
      if (!worker.name.equals(name)) continue;
      System.arraycopy(worker.latencies, 0, all, filled, worker.timed);
      filled += worker.timed;
    }
    Arrays.sort(all);
    line.append(String.format(Locale.ROOT, ", \"%s\": {\"cycles\": %d, \"p50_us\": %.2f, \"p99_us\": %.2f}", name,
        cycles, quantile(all, 0.5), quantile(all, 0.99)));
  }

  private static float quantile(float[] sorted, double share) {
    return sorted.length == 0 ? 0 : sorted[(int) (share * (sorted.length - 1))];
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
