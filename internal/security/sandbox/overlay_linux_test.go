package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// overlayVar is the path of bwrap in a test that runs in a user namespace.
const overlayVar = "SANDBOX_TEST_OVERLAY"

// inNamespace runs a test again in a user namespace, in which it can mount an overlay,
// and reports whether this is that run.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(overlayVar) != "" {
		return true
	}
	path, finding := findBubblewrap(bubblewrapPaths)
	if path == "" {
		t.Fatal(finding.Detail, finding.Fix)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v="+fmt.Sprint(testing.Verbose()))
	cmd.Env = append(os.Environ(), overlayVar+"="+path, baseVar+"="+base(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
	return false
}

// overlayProject is a workspace that is an overlay.
type overlayProject struct {
	testEnv
	lower string
}

// newOverlayProject mounts an overlay. A script makes the files of its lower layer.
func newOverlayProject(t testing.TB, script string) *overlayProject {
	t.Helper()
	root := base(t)
	p := &overlayProject{lower: filepath.Join(root, "lower")}
	p.t, p.root, p.ws, p.backend, p.names = t, root, filepath.Join(root, "ws"), &Bubblewrap{Path: os.Getenv(overlayVar)}, strings.NewReplacer("{rename}", filepath.Join(root, "program")+" rename")
	p.profile = Profile{Dir: p.ws, renames: true}
	for _, name := range []string{"lower", "upper", "work", "ws"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = p.lower
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work,userxattr,volatile,index=off,xino=off", p.lower, root, root)
	if err := unix.Mount("overlay", p.ws, "overlay", 0, options); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "program")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(self, program, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Release()
		if err := unix.Unmount(program, 0); err != nil {
			t.Error(err)
		}
		if err := unix.Unmount(p.ws, 0); err != nil {
			t.Error(err)
		}
		// The files may be read-only.
		_ = exec.Command("chmod", "-R", "u+rwx", root).Run()
	})
	return p
}
