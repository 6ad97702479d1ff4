package toolapi

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	read, write := pawl.Access{Kind: pawl.AccessRead, Target: "a.go"}, pawl.Access{Kind: pawl.AccessWrite, Target: "a.go"}
	for _, tt := range []struct {
		accesses []pawl.Access
		want     bool
	}{
		{nil, true},
		{[]pawl.Access{read, read}, true},
		{[]pawl.Access{read, write}, false},
		{[]pawl.Access{{Kind: pawl.AccessExec, Target: "ls"}}, false},
		{[]pawl.Access{{Kind: pawl.AccessNet, Target: "example.org"}}, false},
		{[]pawl.Access{{Target: "a.go"}}, false}, // an unknown kind is not read-only
	} {
		if got := ReadOnly(tt.accesses); got != tt.want {
			t.Errorf("%v: read-only is %v, want %v", tt.accesses, got, tt.want)
		}
	}
}
