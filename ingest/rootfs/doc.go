// Package rootfs reads files that other people wrote: regular files alone, within a folder, up to a size.
//
// In: a folder, or a path that the user gave. Out: an fs.FS, or bytes. A symbolic link is followed within the folder
// and refused where it leads out ([ErrLeadsOut]); a FIFO, a device or a socket is refused without waiting for it
// ([ErrNotRegular]); a file longer than the caller's limit is refused ([ErrTooLarge]). It must not know what is read.
package rootfs
