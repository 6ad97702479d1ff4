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

// executorVar makes the test binary a process that asks the gateway at that address.
const executorVar = "REMOTE_TEST_HANDS"

func executor(at string) {
	m, _ := (&Client{URL: at, Token: token}).Open(refs[0])
	reply, err := modeltest.Read(context.Background(), m, model.Request{Messages: []pawl.Message{modeltest.Prompt("Go.")}})
	fmt.Println(len(os.Environ()), reply.Parts.Text(), err)
}

// TestExecutorHaveNoKeys: a process whose environment is empty asks a provider that
// wants a key.
func TestExecutorHaveNoKeys(t *testing.T) {
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
