package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusals: what cannot be kept is refused, with the reason, and nothing is
// left behind by the attempt.
func TestRefusals(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		w := newTestEnv(t, backend)
		file := filepath.Join(w.root, "file")
		w.write(file, "")
		link := filepath.Join(w.root, "link")
		if err := os.Symlink(w.home, link); err != nil {
			t.Fatal(err)
		}
		hidden := filepath.Join(w.home, ".config", "gcloud", "project")
		if err := os.Mkdir(hidden, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name string
			p    Profile
			want string
		}{
			{"nothing", Profile{}, "not an absolute path"},
			{"relative", Profile{Dir: "."}, "not an absolute path"},
			{"not there", Profile{Dir: w.root + "/none"}, "no such file"},
			{"a file", Profile{Dir: file}, "is not a directory"},
			{"the root", Profile{Dir: "/"}, "is the root directory"},
			{"the root, oddly", Profile{Dir: "/usr/.."}, "is the root directory"},
			{"home", Profile{Dir: w.home}, "contains your home directory"},
			{"home, by a link", Profile{Dir: link}, "contains your home directory"},
			{"above home", Profile{Dir: w.root}, "contains your home directory"},
			{"/etc", Profile{Dir: "/etc"}, "a system directory"},
			{"/proc", Profile{Dir: "/proc/self"}, "is in /proc"},
			{"a hidden folder", Profile{Dir: hidden}, "that is hidden from commands"},
			{"one that is hidden by the profile", Profile{Dir: w.ws, Hidden: []string{w.ws}}, "that is hidden from commands"},
			{"a folder to start in outside", Profile{Dir: w.ws, Work: w.outside}, "is not a directory in the workspace"},
			{"a folder to start in outside, by dots", Profile{Dir: w.ws, Work: w.ws + "/../outside"}, "is not a directory in the workspace"},
			{"a folder to start in that is not there", Profile{Dir: w.ws, Work: w.ws + "/none"}, "is not a directory in the workspace"},
			{"write to home", Profile{Dir: w.ws, Writable: []string{w.home}}, "contains your home directory"},
			{"write to the root", Profile{Dir: w.ws, Writable: []string{"/"}}, "is the root directory"},
			{"write to what is not there", Profile{Dir: w.ws, Writable: []string{w.root + "/none"}}, "no such file"},
			{"write to secrets", Profile{Dir: w.ws, Writable: []string{filepath.Join(w.home, ".ssh")}}, "that is hidden from commands"},
			{"temporary files nowhere", Profile{Dir: w.ws, Temp: w.root + "/none"}, "temporary files"},
			{"a broken pattern", Profile{Dir: w.ws, Hidden: []string{"[a"}}, "syntax error in pattern"},
			{"a proxy that is not there", Profile{Dir: w.ws, ProxySocket: w.root + "/none"}, ""},
			{"a proxy that is a file", Profile{Dir: w.ws, ProxySocket: file}, ""},
		} {
			t.Run(backend.Name()+"/"+test.name, func(t *testing.T) {
				before := names(w.ws)
				wrapped, err := backend.Wrap([]string{"true"}, test.p)
				if err == nil {
					wrapped.Close()
					t.Fatal("it is accepted")
				}
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
				if Release(); len(names(w.ws)) != len(before) {
					t.Errorf("%v was left with %v", before, names(w.ws))
				}
			})
		}
		if _, err := backend.Wrap(nil, w.profile); err == nil {
			t.Error("no command is accepted")
		}
	}
}

func TestNone(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := None{Why: "no kernel"}
	_, err := backend.Wrap([]string{"true"}, Profile{Dir: "/srv/x"})
	if !errors.Is(err, ErrNoSandbox) || !strings.Contains(err.Error(), "no kernel") || backend.Name() != "none" {
		t.Error(backend.Name(), err)
	}
}

// TestBubblewrapInTheWorkspace: a bwrap that the command could change is not used.
func TestBubblewrapInTheWorkspace(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	w := newTestEnv(t, nil)
	w.write(filepath.Join(w.ws, "bwrap"), "#!/bin/sh")
	link := filepath.Join(w.root, "bwrap")
	if err := os.Symlink(filepath.Join(w.ws, "bwrap"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(w.ws, "bwrap"), link, filepath.Join(w.root, "none")} {
		if _, err := (&Bubblewrap{Path: path}).Wrap([]string{"true"}, w.profile); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
