package site

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// public is a file as a public site has it: without what tells where things lie on somebody's machines, and what those are called.
// Package render leaves out commands and foreign fields; this takes paths, addresses and registries out of every text that remains,
// whichever field it came from: conditions, problems, reasons. keep is the site's own address.
func public(name string, data []byte, keep string) []byte {
	if strings.HasPrefix(name, "assets/") || strings.HasPrefix(name, "about/") || name == "feed.xml" || name == "404.html" {
		return data // the same for everybody
	}
	data = urlRE.ReplaceAllFunc(data, func(m []byte) []byte {
		if keep != "" && bytes.HasPrefix(m, []byte(keep)) {
			return m
		}
		return []byte("(address)")
	})
	data = pathRE.ReplaceAllFunc(data, func(m []byte) []byte {
		parts := pathRE.FindSubmatch(m)
		return append(slices.Clip(parts[1]), path.Base(string(parts[2]))...)
	})
	data = windowsRE.ReplaceAll(data, []byte("(path)"))
	data = userRE.ReplaceAll(data, []byte("(name)"))
	data = registryRE.ReplaceAllFunc(data, func(m []byte) []byte {
		if slices.Contains(publicHosts(), strings.TrimSuffix(string(m), "/")) {
			return m
		}
		return []byte("(registry)/")
	})
	return privateRE.ReplaceAll(data, []byte("(address)"))
}

// publicHosts are registries that say nothing of who uses them.
func publicHosts() []string {
	return []string{"ghcr.io", "docker.io", "quay.io", "nvcr.io", "gcr.io", "public.ecr.aws", "huggingface.co", "github.com"}
}

var (
	// A path from the root or a home folder, of two names at least, where a word may begin; a workload such as 128/128/1 is none.
	pathRE     = regexp.MustCompile(`(^|[\s"'=:(>,;|\[]|&#34;|&#39;)((?:~|/[\w.@+~-]+)(?:/[\w.@+~-]+)+/?)`)
	windowsRE  = regexp.MustCompile(`\b[A-Za-z]:\\(?:[\w.@+~ -]+\\)+[\w.@+~-]*`)
	urlRE      = regexp.MustCompile(`\b(?:https?|grpc|ssh|s3|gs|nfs)://[^\s"'<>&|\\]+`)
	userRE     = regexp.MustCompile(`\b[\w.+-]+@[A-Za-z]\w*[.-][\w.-]*\w`)                                                        // pass@1 and pass@k are metrics
	registryRE = regexp.MustCompile(`\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/`)                                                     // of an image
	privateRE  = regexp.MustCompile(`\b(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?::\d+)?\b`) // versions have four parts too
)
