// Curator's persistent nodes and groups, for nodes_test.cpp. Does what each line of its input says, and answers with one
// line.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.nodes.PersistentTtlNode;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;

public class NodePeer {
  private final CuratorFramework client;
  private final Map<String, PersistentNode> nodes = new HashMap<>();
  private final Map<String, GroupMember> members = new HashMap<>();
  private PersistentTtlNode ttl;

  private NodePeer(String servers, int timeout) {
    client = CuratorFrameworkFactory.newClient(servers, timeout, 10_000, new RetryOneTime(100));
    client.start();
  }

  public static void main(String[] arguments) throws Exception {
    NodePeer peer = new NodePeer(arguments[0], 1000 * Integer.parseInt(arguments[1]));
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

  /// "keep MODE plain|protected PATH DATA" answers with the node's path, "set PATH DATA", "drop PATH",
  /// "session" answers with its number, "join PATH ID PAYLOAD", "payload PATH DATA", "members PATH", "leave PATH",
  /// "keep_ttl PATH MS DATA"
  private String obey(String[] words) throws Exception {
    switch (words[0]) {
      case "keep": return keep(CreateMode.valueOf(words[1]), words[2].equals("protected"), words[3], words[4]);
      case "set": nodes.get(words[1]).setData(words[2].getBytes()); return "yes";
      case "drop": nodes.remove(words[1]).close(); return "yes";
      case "session": return "" + client.getZookeeperClient().getZooKeeper().getSessionId();
      case "join": return join(words[1], words[2], words[3]);
      case "payload": members.get(words[1]).setThisData(words[2].getBytes()); return "yes";
      case "members": return shown(members.get(words[1]));
      case "leave": members.remove(words[1]).close(); return "yes";
      case "keep_ttl":
        ttl = new PersistentTtlNode(client, words[1], Long.parseLong(words[2]), words[3].getBytes());
        ttl.start();
        return ttl.waitForInitialCreate(10, TimeUnit.SECONDS) ? "yes" : "no";
      default: throw new IllegalArgumentException(words[0]);
    }
  }

  private String keep(CreateMode mode, boolean isProtected, String path, String data) throws Exception {
    PersistentNode node = new PersistentNode(client, mode, isProtected, path, data.getBytes());
    nodes.put(path, node);
    node.start();
    return node.waitForInitialCreate(10, TimeUnit.SECONDS) ? node.getActualPath() : "no";
  }

  private String join(String path, String id, String payload) {
    GroupMember member = new GroupMember(client, path, id, payload.getBytes());
    members.put(path, member);
    member.start();
    return "yes";
  }

  /// "id=payload,id=payload", by id.
  private static String shown(GroupMember member) {
    StringBuilder all = new StringBuilder();
    for (Map.Entry<String, byte[]> each : new TreeMap<>(member.getCurrentMembers()).entrySet())
      all.append(all.length() == 0 ? "" : ",").append(each.getKey()).append('=').append(new String(each.getValue()));
    return all.toString();
  }
}
