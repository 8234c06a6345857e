// Curator's and Java's own gzip, for gzip_test.cpp. Answers each line of its input, "operation hex", with a line of its
// output: the result in hex after a '=', or why there is none after a '!'.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HexFormat;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.curator.framework.imps.GzipCompressionProvider;

public class GzipPeer {
  private static final GzipCompressionProvider curator = new GzipCompressionProvider();

  public static void main(String[] arguments) throws IOException {
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
    StringBuilder answers = new StringBuilder();
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      String[] words = line.split(" ", 2);
      answers.append(answer(words[0], HexFormat.of().parseHex(words[1]))).append('\n');
    }
    System.out.print(answers);
  }

  private static String answer(String operation, byte[] data) {
    try {
      return "=" + HexFormat.of().formatHex(run(operation, data));
    } catch (IOException error) {
      return "!" + error;
    }
  }

  private static byte[] run(String operation, byte[] data) throws IOException {
    switch (operation) {
      case "curator-compress": return curator.compress("/", data);
      case "curator-decompress": return curator.decompress("/", data);
      case "java-compress": return javaCompress(data);
      case "java-decompress":
        // With room for the whole data in its buffer: the result for bytes behind the last member depends on that.
        return new GZIPInputStream(new ByteArrayInputStream(data), data.length + 1).readAllBytes();
      default: throw new IllegalArgumentException(operation);
    }
  }

  private static byte[] javaCompress(byte[] data) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream stream = new GZIPOutputStream(bytes)) {
      stream.write(data);
    }
    return bytes.toByteArray();
  }
}
