package site

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// redaction takes out of views what shows where things lie on somebody's machines, and what those are called: paths,
// addresses, users, registries, whichever field they are in. Package render leaves out commands and other fields.
// keep is the site's own address.
func redaction(keep string) rewriting {
	return rewriting{text: func(s string) string { return redacted(s, keep) }}
}

func redacted(s, keep string) string {
	if !strings.ContainsAny(s, `/\\@.`) {
		return s
	}
	s = urlRE.ReplaceAllStringFunc(s, func(m string) string {
		if keep != "" && strings.HasPrefix(m, keep) {
			return m
		}
		return "(address)"
	})
	s = pathRE.ReplaceAllStringFunc(s, func(m string) string {
		parts := pathRE.FindStringSubmatch(m)
		return parts[1] + path.Base(parts[2])
	})
	s = windowsRE.ReplaceAllString(s, "(path)")
	s = userRE.ReplaceAllString(s, "(name)")
	s = registryRE.ReplaceAllStringFunc(s, func(m string) string {
		if slices.Contains(publicHosts(), strings.TrimSuffix(m, "/")) {
			return m
		}
		return "(registry)/"
	})
	return privateRE.ReplaceAllString(s, "(address)")
}

// publicHosts are registries that do not show who uses them.
func publicHosts() []string {
	return []string{
		"ghcr.io", "docker.io", "quay.io", "nvcr.io", "gcr.io", "public.ecr.aws", "huggingface.co", "github.com",
	}
}

var (
	// A path from the root or a home folder, of two names at least, where a word may begin; a workload such as
	// 128/128/1 is none.
	pathRE    = regexp.MustCompile(`(^|[\s"'=:(>,;|\[])((?:~|/[\w.@+~-]+)(?:/[\w.@+~-]+)+/?)`)
	windowsRE = regexp.MustCompile(`\b[A-Za-z]:\\(?:[\w.@+~ -]+\\)+[\w.@+~-]*`)
	urlRE     = regexp.MustCompile(`\b(?:https?|grpc|ssh|s3|gs|nfs)://[^\s"'<>&|\\]+`)
	// pass@1 and pass@k are metrics.
	userRE = regexp.MustCompile(`\b[\w.+-]+@[A-Za-z]\w*[.-][\w.-]*\w`)
	// Of an image.
	registryRE = regexp.MustCompile(`\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/`)
	// Versions have four parts too.
	privateRE = regexp.MustCompile(
		`\b(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?::\d+)?\b`)
)
