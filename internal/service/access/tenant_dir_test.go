package access_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

func TestFoldersAreTheTenantsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tenant store.Tenant
		dir    string
		want   error
	}{
		{"acme", "/ws/acme/app", nil},
		{"acme", "/ws/acme/app/sub dir", nil},
		{"", "/ws/_/app", nil},

		{"acme", "/ws/acme", pawl.ErrDenied}, // the directory of all of its workspaces is none of them
		{"acme", "/ws/acme2/app", pawl.ErrDenied},
		{"acme", "/ws/rival/app", pawl.ErrDenied},
		{"acme", "/ws/_/app", pawl.ErrDenied},
		{"", "/ws/acme/app", pawl.ErrDenied},
		{"acme", "/ws", pawl.ErrDenied},
		{"acme", "/", pawl.ErrDenied},
		{"acme", "/etc", pawl.ErrDenied},
		{"acme", "/other/ws/acme/app", pawl.ErrDenied},

		{"acme", "/ws/acme/../rival/app", pawl.ErrInvalid},
		{"acme", "/ws/acme/..", pawl.ErrInvalid},
		{"acme", "/ws/acme/./app", pawl.ErrInvalid},
		{"acme", "/ws/acme//app", pawl.ErrInvalid},
		{"acme", "/ws/acme/app/", pawl.ErrInvalid},
		{"acme", "/ws/acme/app\x00", pawl.ErrInvalid},
		{"acme", "ws/acme/app", pawl.ErrInvalid},
		{"acme", "", pawl.ErrInvalid},
		{"..", "/app", pawl.ErrInvalid},
		{"_", "/ws/_/app", pawl.ErrInvalid},
		{"a/b", "/ws/a/b/app", pawl.ErrInvalid},
	} {
		if err := access.CheckDir("/ws", c.tenant, c.dir); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%q in %q: %v, want %v", c.tenant, c.dir, err, c.want)
		}
	}
}

// A workspace is in its tenant's directory, by a name that cannot lead elsewhere.
func TestWorkspacesHaveNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"one": true, "01JD0000000000000000000000": true, "a.b_c-d": true,
		"": false, ".": false, "..": false, ".git": false, "-x": false, "a/b": false, "../rival/x": false, "a b": false, "a\x00": false, "é": false,
		strings.Repeat("a", 101): false,
	} {
		for tenant, own := range map[store.Tenant]string{"acme": "/work/acme/", "": "/work/_/"} {
			dir, err := access.Workspace("/work", tenant, name)
			if good && (err != nil || dir != own+name) || !good && !errors.Is(err, pawl.ErrInvalid) {
				t.Errorf("%q of %q: %q, %v", name, tenant, dir, err)
			}
		}
	}
	if dir, err := access.Workspace("/work", "../x", "one"); err == nil {
		t.Errorf("an odd tenant got %q", dir)
	}
}
