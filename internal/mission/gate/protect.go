package gate

import (
	"encoding/json"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/pawl-dev/pawl"
)

// protected lists files that define how a project is checked, or that could interfere with the checks. A name
// without a slash matches in any directory; a name with a trailing slash is a directory.
var protected = []string{
	// who checks
	".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".buildkite/", ".ci/", ".travis.yml", "azure-pipelines.yml",
	"Jenkinsfile", ".drone.yml", "bitbucket-pipelines.yml", ".pawl/", ".pre-commit-config.yaml", "lefthook.yml", ".husky/", "CODEOWNERS",
	// linters and types
	".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json", "staticcheck.conf", ".eslintrc*", "eslint.config.*", ".eslintignore", "biome.json*",
	".prettierrc*", ".prettierignore", "tsconfig*.json", ".flake8", ".pylintrc", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", "pyrightconfig.json",
	"clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", ".editorconfig", "deny.toml",
	// runners of tests
	"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "setup.cfg", "sitecustomize.py", "usercustomize.py", "*.pth",
	"jest.config.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", "babel.config.*", ".babelrc*", ".mocharc*", "karma.conf.*", "playwright.config.*",
	".cargo/", "nextest.toml", "build.rs", "go.work", ".npmrc", ".yarnrc*", ".envrc", ".nycrc*", ".c8rc*", ".coveragerc", "codecov.yml", ".codecov.yml",
	// what runners are made of
	"vendor/", "node_modules/", "pytest.py", "_pytest/", "pytest/", "unittest.py", "unittest/", "jest.js", "vitest.js", "testing.go",
	".gitattributes", ".gitmodules",
}

// Protects reports whether changing a file is a fault by its path alone: it is protected, and the change was
// not approved. The path is relative to the top of the tree; a path outside of it is protected. Files that are
// only protected in parts are not included.
func Protects(f pawl.Criteria, name string) bool {
	name = path.Clean(name)
	if !filepath.IsLocal(name) {
		return true
	}
	return !fileApproved(f.Approval, name) && slices.ContainsFunc(slices.Concat(protected, f.Protected), func(pattern string) bool { return protects(pattern, name) })
}

func protects(pattern, name string) bool {
	switch {
	case strings.HasSuffix(pattern, "/"):
		return strings.Contains("/"+name+"/", "/"+pattern) // a link of that name would replace the directory
	case strings.Contains(pattern, "/"):
		return match(pattern, name)
	default:
		return match(pattern, path.Base(name))
	}
}

// sections extract the protected parts of files that may change otherwise: a project may add dependencies, but
// not change its test command.
var sections = map[string]func(text []byte) (any, error){
	"package.json":   packageParts,
	"pyproject.toml": projectParts,
	"Cargo.toml":     cargoParts,
	"go.mod":         goModParts,
}

// partsDiffer reports whether the protected parts of a file differ. Unreadable files differ.
func partsDiffer(name string, before, after []byte) bool {
	read, ok := sections[path.Base(name)]
	if !ok {
		return false
	}
	a, errA := read(before)
	b, errB := read(after)
	return errA != nil || errB != nil || !reflect.DeepEqual(a, b)
}

func packageParts(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil //nolint:nilnil // the file does not exist
	}
	var p map[string]any
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "scripts", "jest", "vitest", "eslintConfig", "eslintIgnore", "nyc", "c8", "mocha", "babel", "workspaces", "overrides", "resolutions", "type"), nil
}

func projectParts(text []byte) (any, error) {
	var p map[string]any
	if err := toml.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "tool", "build-system"), nil
}

func cargoParts(text []byte) (any, error) {
	var p map[string]any
	if err := toml.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	return pick(p, "lints", "profile", "patch", "replace", "test", "lib", "bin", "workspace"), nil
}

var goModReplace = regexp.MustCompile(`(?m)^\s*(?:replace\b.*|toolchain\b.*|\S+(?:\s+v\S+)?\s+=>.*)$`)

// goModParts returns the lines that replace modules or the toolchain.
func goModParts(text []byte) (any, error) {
	lines := goModReplace.FindAllString(string(text), -1)
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	slices.Sort(lines)
	return lines, nil
}

// pick returns the entries of a map with the given keys.
func pick(m map[string]any, keys ...string) map[string]any {
	some := map[string]any{}
	for _, k := range keys {
		if v, ok := m[k]; ok {
			some[k] = v
		}
	}
	return some
}
