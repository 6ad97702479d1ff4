package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/sandbox"
)

// hiddenNames are files of a workspace that commands do not see. Examples that
// are meant to be committed (.env.example) are not among them.
var hiddenNames = []string{
	".env", ".env.local", ".env.*.local", ".env.dev", ".env.development", ".env.stage", ".env.staging", ".env.prod", ".env.production", ".env.secret*",
}

// toolVariables tell programs where their tools and certificates are. None
// holds a key.
var toolVariables = []string{
	"GOPATH", "GOROOT", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "CI",
}

// boxProfile is what a command of the agent may touch in a workspace. Pawl's own
// log, keys and configuration are out of its sight.
func boxProfile(dir string) (sandbox.Profile, error) {
	p := sandbox.Profile{Dir: dir, Env: toolVariables, Hidden: hiddenNames}
	data, err := config.Data()
	if err != nil {
		return p, err
	}
	user, err := config.UserFile()
	if err != nil {
		return p, err
	}
	store, err := config.Store()
	if err != nil {
		return p, err
	}
	own := []string{data, user}
	if filepath.Base(filepath.Dir(user)) == "pawl" {
		own = append(own, filepath.Dir(user))
	}
	if path := strings.TrimPrefix(store, "sqlite:"); !strings.Contains(path, "://") {
		own = append(own, path, path+"-wal", path+"-shm", filepath.Join(filepath.Dir(path), "blobs"))
	}
	for _, path := range own {
		if path, err = filepath.Abs(path); err != nil {
			return p, err
		}
		p.Hidden = append(p.Hidden[:len(p.Hidden):len(p.Hidden)], path)
	}
	return p, nil
}

// workingDir is the folder that pawl was started in.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
