package discover

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// composerFile is the part of a composer.json that matters for checks.
type composerFile struct {
	Require    map[string]string
	RequireDev map[string]string `json:"require-dev"`
	Scripts    map[string]any
}

// php finds PHPUnit, Pest, and scripts of Composer. Packages must be in vendor, or PHPUnit be installed: Composer
// downloads from the hosts of each author, and checks reach registries only.
func php(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("composer.json", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")) {
		list = append(list, phpChecks(d)...)
	}
	return list
}

// composer returns the command of a script. Without Composer, a script that is one PHP command runs by itself.
func (d directory) composer(c composerFile, script string) []string {
	line, _ := c.Scripts[script].(string)
	if words := strings.Fields(line); len(words) > 1 && words[0] == "php" && !d.installed("composer") && !strings.ContainsAny(line, "'\"$&|;<>()*?`\\") {
		return words
	}
	return []string{"composer", "run-script", "--no-interaction", script}
}

func phpChecks(d directory) (list []Found) {
	var c composerFile
	if err := json.Unmarshal([]byte(d.text("composer.json")), &c); err != nil {
		c = composerFile{}
	}
	config := d.first("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
	unit := func(name, file, why string) {
		args := []string{name}
		if slices.Contains(d.Paths, path.Join(d.path, "vendor/bin", name)) {
			args = []string{"php", "vendor/bin/" + name}
		}
		list = append(list, d.check("phpunit", pawl.CheckTest, file, why, append(args, "--log-junit", reportXML)...).reports("junit", reportXML))
	}
	_, pest := c.RequireDev["pestphp/pest"]
	_, unitRequired := c.RequireDev["phpunit/phpunit"]
	switch {
	case pest:
		unit("pest", "composer.json", "requires Pest")
	case config != "":
		unit("phpunit", config, "configures PHPUnit")
	case unitRequired:
		unit("phpunit", "composer.json", "requires PHPUnit")
	case c.Scripts["test"] != nil:
		list = append(list, d.check("composer-test", pawl.CheckTest, "composer.json", "has the script test", d.composer(c, "test")...))
	}
	if c.Scripts["lint"] != nil {
		list = append(list, d.check("composer-lint", pawl.CheckLint, "composer.json", "has the script lint", d.composer(c, "lint")...))
	}
	if len(list) == 0 && strings.Contains(d.text("composer.json"), "{") {
		list = append(list, d.check("composer-validate", pawl.CheckLint, "composer.json", "declares a PHP package", "composer", "validate", "--no-interaction", "--no-check-publish"))
	}
	return list
}
