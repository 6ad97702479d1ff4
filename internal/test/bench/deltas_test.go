//go:build bench

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

const (
	readVar = "PAWL_BENCH_READ" // the URL that a child process reads bare
	deltas  = 20_000
)

// TestBenchDeltas: a long reply, streamed over HTTP in 20,000 pieces, beside a
// program that reads the same bytes and does nothing with them.
func TestBenchDeltas(t *testing.T) { //nolint:paralleltest // it measures time
	const maxCPU = 500 * time.Millisecond
	var words strings.Builder
	for i := range deltas {
		fmt.Fprintf(&words, "%04x ", i) // a reply that repeats itself is taken for a model that babbles
	}
	line, err := json.Marshal(map[string]any{"text": words.String(), "deltas": deltas})
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.StartFake(t, fakeprovider.Config{}, string(line))
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	config := filepath.Join(t.TempDir(), "pawl.json")
	text := `{"small_model":"none","providers":{"anthropic":{"base_url":"` + server.URL + `"}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Env = append(b.Env, "PAWL_CONFIG="+config, "ANTHROPIC_API_KEY=key")
	c := measure(t, b, 5, "run", "--mode", "yolo", "--model", "anthropic/claude-sonnet-4-5", "tell me")

	body := server.Requests()[0].Body
	t.Logf("first request: %d bytes (system prompt, %d tools)   (goal: 16384)", len(body), bytes.Count(body, []byte(`"input_schema"`)))
	bare := bareRead(t, server.URL, body)
	t.Logf("%d deltas: CPU %s, %.1f us a delta, peak RSS %.1f MB; a bare reader: CPU %s   (at most %s)",
		deltas, ms(c.cpu), float64(c.cpu.Microseconds())/deltas, mb(c.rss), ms(bare), maxCPU)
	if c.cpu > maxCPU {
		t.Logf("over the goal: %d deltas cost %s", deltas, c.cpu)
	}
}

// bareRead returns the CPU of a process that only reads the same stream.
func bareRead(t *testing.T, url string, body []byte) time.Duration {
	t.Helper()
	var used []time.Duration
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), readVar+"="+url)
		cmd.Stdin = bytes.NewReader(body)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		used = append(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return median(used, func(d time.Duration) time.Duration { return d })
}

// readMain is the child: it posts what it is given and reads the answer.
func readMain() int {
	if post(os.Getenv(readVar), os.Stdin) != nil {
		return 1
	}
	return 0
}

// post sends a request to the provider and reads the answer to its end.
func post(url string, body io.Reader) error {
	req, err := http.NewRequest(http.MethodPost, url+"/v1/messages", body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "key")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
