/** Lets containers start that request a capability which this machine withholds even from root. */

const SYS_RESOURCE_BIT = 24n

/**
 * Whether root lacks CAP_SYS_RESOURCE, as in some virtual machines. runc then fails to start containers that request it.
 *
 * @param status content of `/proc/self/status`
 */
export function lacksSysResource(status: string): boolean {
  const [, bounding = 'f'.repeat(16)] = /^CapBnd:\s*([0-9a-f]+)$/m.exec(status) ?? []
  return ((BigInt(`0x${bounding}`) >> SYS_RESOURCE_BIT) & 1n) === 0n
}

/**
 * A program to be used as runc: removes the capability from the configuration of each container, and of each process that
 * is added to one, then runs runc.
 */
export const RUNC_WITHOUT_SYS_RESOURCE = `#!/bin/sh
for argument; do
  case \${previous:-} in
    --bundle) file=$argument/config.json ;;
    --process) file=$argument ;;
    *) file= ;;
  esac
  if [ -n "$file" ]; then
    sed -i 's/"CAP_SYS_RESOURCE",//g; s/,"CAP_SYS_RESOURCE"//g; s/"CAP_SYS_RESOURCE"//g' "$file"
  fi
  previous=$argument
done
exec runc "$@"
`
