package gateway

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// executorVar is the variable that makes the test binary send a request to the gateway at the given address.
const executorVar = "REMOTE_TEST_HANDS"

func executor(at string) {
	m, _ := (&Client{URL: at, Token: token}).Open(refs[0])
	reply, err := modeltest.Read(context.Background(), m, model.Request{Messages: []pawl.Message{modeltest.Prompt("Go.")}})
	fmt.Println(len(os.Environ()), reply.Parts.Text(), err)
}

// TestExecutorHasNoKeys checks that a process with an empty environment can use a provider that needs a key.
func TestExecutorHasNoKeys(t *testing.T) {
	t.Parallel()
	o := providers(t, fakeprovider.Config{}, `{"text":"hello"}`)
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{executorVar + "=" + serve(t, Config{Open: o.Open}).URL}
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if got := string(out); err != nil || got != "1 hello <nil>\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
