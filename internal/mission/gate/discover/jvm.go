package discover

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl"
)

var gradleInclude = regexp.MustCompile(`(?m)^\s*include(Build)?\b`)

// jvm finds projects of Maven and Gradle. The outermost one runs those below it. Dependencies must have been downloaded.
func jvm(t *tree) (list []Found) {
	builds := t.directories("pom.xml", "settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
	for _, d := range outermost(builds) {
		if d.has("pom.xml") {
			list = append(list, maven(d))
		} else {
			list = append(list, gradle(d))
		}
	}
	return list
}

func maven(d directory) Found {
	program, why := []string{"mvn"}, "declares a Maven project"
	if d.has("mvnw") {
		program, why = []string{"sh", "mvnw"}, "declares a Maven project, and mvnw is its wrapper"
	}
	report := "target/surefire-reports/TEST-*.xml"
	if strings.Contains(d.text("pom.xml"), "<modules>") {
		report = "**/" + report
	}
	args := join(program, "--offline", "--batch-mode", "--fail-at-end", "test")
	return d.check("maven-test", pawl.CheckTest, "pom.xml", why, args...).reports("junit", report)
}

func gradle(d directory) Found {
	file := d.first("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
	program, why := []string{"gradle"}, "declares a Gradle project"
	if d.has("gradlew") {
		program, why = []string{"sh", "gradlew"}, "declares a Gradle project, and gradlew is its wrapper"
	}
	report := "build/test-results/*/*.xml"
	if gradleInclude.MatchString(d.text(file)) {
		report = "**/" + report
	}
	args := join(program, "--offline", "--no-daemon", "--continue", "test")
	return d.check("gradle-test", pawl.CheckTest, file, why, args...).reports("junit", report)
}

var javaFile = regexp.MustCompile(`\.java$`)

// javac compiles Java that no build tool was found for.
func javac(t *tree) []Found {
	top := directory{t, ""}
	files := top.files(javaFile)
	if len(files) == 0 || len(t.found) > 0 {
		return nil
	}
	script := "find . -name '*.java' >" + buildDir + ".txt && exec javac -d " + buildDir + " @" + buildDir + ".txt"
	return []Found{top.check("javac", pawl.CheckBuild, files[0], "is Java without a build tool", "sh", "-c", script)}
}
