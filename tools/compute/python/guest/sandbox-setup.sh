# What the sandbox sees, made inside fresh namespaces (unshare): a root of its own with the system's programs, the interpreter and the
# task's files, all read-only, and a small writable folder in memory. Nothing else of the machine is there: no home, no /etc, no
# /proc, no /sys, no other workspace. No /proc, since the user root, even without rights, may write some of the kernel's settings there.
# Arguments: folder of the files or "", bytes of the writable folder, number of prefixes,
# prefixes of the interpreter, then the command.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
files=$1 desk_bytes=$2 prefixes=$3
shift 3

# Any folder will do: it is seen in this namespace alone.
root=/mnt
mount -t tmpfs -o size=1m,nr_inodes=1k,mode=755,nosuid,nodev tmpfs "$root"
cd "$root"

read_only() {
  mkdir -p ".$1"
  mount --bind "$1" ".$1"
  mount -o "remount,bind,ro,nosuid,nodev$2" ".$1"
}

for folder in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$folder" ]; then cp -P "$folder" ".$folder"; elif [ -d "$folder" ]; then read_only "$folder" ''; fi
done
read_only /usr ''
while [ "$prefixes" -gt 0 ]; do
  case $1 in /usr | /usr/*) ;; *) read_only "$1" '' ;; esac
  shift
  prefixes=$((prefixes - 1))
done
# The linker's table, and where Debian says which library is meant.
if [ -d /etc/alternatives ]; then read_only /etc/alternatives ',noexec'; fi
mkdir -p etc
if [ -f /etc/ld.so.cache ]; then cp /etc/ld.so.cache etc/; fi

mkdir dev
for device in null zero full random urandom; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done

mkdir files desk
if [ -n "$files" ]; then
  mount --bind "$files" files
  mount -o remount,bind,ro,nosuid,nodev,noexec files
fi
mount -t tmpfs -o "size=$desk_bytes,nr_inodes=4k,mode=700,nosuid,nodev,noexec" tmpfs desk
ln -s desk tmp

mkdir old proc
# umount looks there for what is mounted.
mount --rbind /proc proc
mount -o remount,bind,ro,nosuid,nodev "$root"
pivot_root . old
cd /
umount -l /old
umount -l /proc
cd /desk
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs "$@"
