package folderlock_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/folderlock"
)

func take(dir string, mode folderlock.Mode, patience time.Duration, waiting func()) (func(), error) {
	return folderlock.Take(context.Background(), dir, mode, folderlock.Wait{Patience: patience, Waiting: waiting})
}

// Who may hold a lock beside whom. Each lock has an open file of its own, as those of other processes have.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		first, second folderlock.Mode
		both          bool
	}{
		{folderlock.Exclusive, folderlock.Exclusive, false}, {folderlock.Exclusive, folderlock.Shared, false},
		{folderlock.Shared, folderlock.Exclusive, false}, {folderlock.Shared, folderlock.Shared, true},
	} {
		dir := t.TempDir()
		release, err := take(dir, c.first, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		waited := 0
		second, err := take(dir, c.second, 0, func() { waited++ })
		if (err == nil) != c.both || err != nil && !errors.Is(err, folderlock.ErrHeld) || waited != 0 {
			t.Errorf("%v after %v: %v, waited %d", c.second, c.first, err, waited)
		}
		if second != nil {
			second()
		}
		release()
		if again, err := take(dir, c.second, 0, nil); err != nil {
			t.Errorf("after the end of %v: %v", c.first, err)
		} else {
			again()
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestWaiting(t *testing.T) {
	dir := t.TempDir()
	release, err := take(dir, folderlock.Exclusive, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan bool, 9)
	go func() {
		<-said
		release()
	}()
	second, err := take(dir, folderlock.Exclusive, time.Minute, func() { said <- true })
	if err != nil || len(said) > 0 {
		t.Fatal(err, len(said))
	}
	defer second()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err = folderlock.Take(ctx, dir, folderlock.Shared, folderlock.Wait{Patience: time.Minute})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := take(dir+"-none", folderlock.Shared, 0, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
