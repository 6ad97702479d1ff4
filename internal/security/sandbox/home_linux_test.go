package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plantedSecrets are files of a home directory that no list of secrets can foresee.
var plantedSecrets = []string{
	"notes/passwords.txt", ".foo/token", "token", "Documents/taxes.pdf", ".config/foo/config.yml", ".local/share/foo/auth.json", ".cache/foo/session",
	".bash_aliases", ".profile", ".zshrc", ".envrc", ".env", ".config/fish/config.fish", ".xprofile", ".pip/pip.conf", ".config/pip/pip.conf", ".condarc",
	".cargo/credentials.toml.bak", ".cargo/token", ".gradle/init.gradle", ".m2/settings.xml.bak", ".stack/upload/credentials.json", ".cabal/config",
	".pub-cache/credentials.json", ".config/git/token", ".julia/logs/repl_history.jl", ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
	"go/src/private/key.go", "work/other/main.go", ".local/state/x", ".fly/bin/../config.yml", "opt/own/token", "Library/Application Support/x/token",
}

// TestHomeIsHidden: of a home directory a command sees programs and their settings, and
// nothing else, whatever its name.
func TestHomeIsHidden(t *testing.T) {
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			for _, name := range slices.Concat(plantedSecrets, secrets) {
				path := filepath.Join(w.home, name)
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					path = filepath.Join(path, "planted")
				}
				w.write(path, w.secret(name))
			}
			t.Setenv("PATH", filepath.Join(w.home, ".local/bin")+":"+filepath.Join(w.home, ".fly/bin")+":"+filepath.Join(w.home, "opt/own/bin")+":"+os.Getenv("PATH"))
			w.write(filepath.Join(w.home, "opt/own/bin/tool"), "")
			w.write(filepath.Join(w.home, ".fly/bin/flyctl"), "")
			w.write(filepath.Join(w.home, ".local/bin/x"), "")
			o := w.run(w.profile, `cat {home}/{*,.*,*/*,.*/*,*/.*,.*/.*,*/*/*,.*/*/*,.*/*/*/*,.*/*/*/*/*/*} 2>/dev/null
				find {home} -type f -exec cat {} + 2>/dev/null; grep -rs secret- {home}; ls -A {home}/notes {home}/.foo; tar -C {home} -cf - . 2>/dev/null | tr -d '\0'; true`)
			if damage := w.damage(o); len(damage) > 0 {
				t.Errorf("%q", damage)
			}
		})
	}
}

// TestHomeShowsPrograms: what programs need of a home directory is there, and read-only.
func TestHomeShowsPrograms(t *testing.T) {
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			at := func(name string) string { return filepath.Join(w.home, name) }
			files := []string{
				"go/pkg/mod/m@v1/f", ".cargo/bin/rustc", ".cargo/registry/src/f", ".rustup/toolchains/x/f", ".nvm/versions/node/f", ".pyenv/versions/3/f", ".config/git/ignore",
				"opt/jdk/lib/f", "opt/single/bin/f", "dotfiles/gitconfig.inc", "tools/venv/pyvenv.cfg", "cert.pem", "data/node/f", "src/.bin/f",
			}
			for _, name := range files {
				w.write(at(name), name+"\n")
			}
			w.write(at("opt/jdk/bin/java"), "")
			w.write(at("tools/venv/bin/black"), "black\n")
			w.write(at(".gitconfig"), "[include]\n\tpath = ~/dotfiles/gitconfig.inc\n")
			w.write(at("dotfiles/gitconfig.inc"), "[user]\n\tname = included\n")
			for link, to := range map[string]string{".local/bin/black": "../../tools/venv/bin/black", ".volta": "data/node"} {
				if err := os.MkdirAll(filepath.Dir(at(link)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(to, at(link)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", strings.Join([]string{at("opt/jdk/bin"), at("opt/single/bin"), at(".local/bin"), os.Getenv("PATH")}, ":"))
			t.Setenv("SSL_CERT_FILE", at("cert.pem"))
			p := w.profile
			p.Dir, p.Env = at("work/project"), []string{"SSL_CERT_FILE"}
			p.Readable = []string{at("src/.bin/f")}
			w.write(at("work/project/f"), "project\n")
			o := w.run(p, `cd ~; pwd; cat go/pkg/mod/m@v1/f .cargo/bin/rustc .cargo/registry/src/f .rustup/toolchains/x/f .nvm/versions/node/f .pyenv/versions/3/f .config/git/ignore
				cat opt/jdk/lib/f opt/single/bin/f .local/bin/black .volta/f src/.bin/f work/project/f $SSL_CERT_FILE; git config --global --includes user.name
				for f in bin/new .nvm/new go/pkg/new new; do { echo bad > $f; } 2>/dev/null && echo ESCAPED $f; done; echo new > work/project/new; cat work/project/new`)
			want := strings.Join([]string{
				w.home, "go/pkg/mod/m@v1/f", ".cargo/bin/rustc", ".cargo/registry/src/f", ".rustup/toolchains/x/f", ".nvm/versions/node/f", ".pyenv/versions/3/f", ".config/git/ignore",
				"opt/jdk/lib/f", "opt/single/bin/f", "black", "data/node/f", "src/.bin/f", "project", "cert.pem", "included", "new", "",
			}, "\n")
			if backend.Name() == "landlock" {
				want, o.output = strings.TrimSuffix(want, "new\n"), strings.SplitAfter(o.output, "included\n")[0]
			}
			if diff := cmp.Diff(want, o.output); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRepositoriesInHome: git works in a linked worktree and in a submodule whose
// repository is elsewhere in the home directory, and no file .git opens another one.
func TestRepositoriesInHome(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			at := func(name string) string { return filepath.Join(w.home, name) }
			w.git("init", "-q", at("repo"))
			w.git("-C", at("repo"), "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
			w.git("-C", at("repo"), "worktree", "add", "-q", at("tree"))
			w.git("-c", "protocol.file.allow=always", "-C", at("repo"), "submodule", "--quiet", "add", at("repo"), "sub")
			w.write(at("evil/.git"), "gitdir: "+at("repo/.git")+"\n")
			w.write(at("repo/private"), w.secret("a file of the repository"))
			for dir, want := range map[string]string{"tree": "first\n", "repo/sub": "first\n"} {
				p := Profile{Dir: at(dir), Env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
				if got := w.run(p, `git log --format=%s; cat ../private ../repo/private 2>/dev/null`); got.output != want {
					t.Errorf("%s: %q", dir, got.output)
				}
			}
			if got := w.run(Profile{Dir: at("evil")}, `git log --format=%s; cat {home}/repo/.git/config`); strings.Contains(got.output, "first") || strings.Contains(got.output, "[core]") {
				t.Error(got.output)
			}
		})
	}
}
