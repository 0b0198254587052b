// Package userdir makes a folder that belongs to the user alone, for locks and notes about processes.
//
// In: the environment. Out: a folder of mode 0700 that the user owns and that no link leads to. A folder that another
// user could have prepared is refused. It must not know what is kept there.
package userdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Private is a folder for what concerns processes of this host: below $XDG_RUNTIME_DIR, else below the state folder
// (XDG Base Directory Specification), else below the temporary folder. A place that somebody else owns is passed over:
// su and sudo leave the variables of another user behind.
func Private() (string, error) {
	var bad []error
	for _, dir := range privatePlaces() {
		err := secure(dir)
		if err == nil {
			return dir, nil
		}
		bad = append(bad, fmt.Errorf("%s: %w", dir, err))
	}
	return "", fmt.Errorf("no private folder for locks: %w", errors.Join(bad...))
}

func privatePlaces() []string {
	var out []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		out = append(out, filepath.Join(dir, "ttreport"))
	}
	state := os.Getenv("XDG_STATE_HOME")
	if home := os.Getenv("HOME"); !filepath.IsAbs(state) && filepath.IsAbs(home) {
		state = filepath.Join(home, ".local", "state")
	}
	if host, err := os.Hostname(); err == nil && filepath.IsAbs(state) { // a home folder may be shared between hosts
		out = append(out, filepath.Join(state, "ttreport", "host-"+filepath.Base(filepath.Clean(host))))
	}
	return append(out, filepath.Join(os.TempDir(), "ttreport-"+strconv.Itoa(os.Geteuid())))
}

// Cache is the folder of this program below the cache folder of the user.
func Cache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	dir := filepath.Join(base, "ttreport")
	if err := secure(dir); err != nil {
		return "", fmt.Errorf("cache folder: %s: %w", dir, err)
	}
	return dir, nil
}

// secure makes a folder where there is none, and checks one that is there. It must belong to the user, and the folder
// above to the user or to root.
func secure(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	above, err := os.Stat(filepath.Dir(dir))
	if err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if who := owner(above); !info.IsDir() || owner(info) != os.Geteuid() || who != 0 && who != os.Geteuid() {
		return errors.New("it is not a folder that belongs to this user alone")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// Foreign reports a file of another user than this one, root, and the owner of what it would be used for.
func Foreign(file, user os.FileInfo) bool {
	who := owner(file)
	return who != os.Geteuid() && who != 0 && who != owner(user)
}
