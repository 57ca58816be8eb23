#!/bin/sh
# Makes the root of the image: root.sh PROGRAM FOLDER. The program, its libraries, a user, and a folder for data.
set -eu
program=$1
root=$2
mkdir -p "$root/usr/bin" "$root/etc" "$root/data" "$root/tmp"
cp "$program" "$root/usr/bin/hindsight"
# Lines are `name => path (address)`, and `path (address)` for the loader.
ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
echo 'hindsight:x:65532:65532::/data:/sbin/nologin' > "$root/etc/passwd"
echo 'hindsight:x:65532:' > "$root/etc/group"
chmod 1777 "$root/tmp"
