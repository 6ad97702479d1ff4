package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv(t *testing.T) {
	t.Setenv("PROC_TEST_OLD", "pawl's")
	t.Setenv("PROC_TEST_KEPT", "kept")
	out := newText()
	c := bash("echo $PROC_TEST_OLD $PROC_TEST_KEPT $PROC_TEST_NEW $"+markVar, out)
	c.Env = []string{"PROC_TEST_OLD=its", "PROC_TEST_NEW=new", markVar + "=none"}
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("its kept new "+Self().Mark+"\n", out.String()); diff != "" {
		t.Error(diff)
	}
}
