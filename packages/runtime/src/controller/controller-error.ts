/** Errors of controllers. */
import type { ObjectKey } from '@reeve/kube'
import { formatKey } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'

/**
 * Throw it from a reconcile when retrying cannot help: only a change of the object, or a resync, can. Counted and logged,
 * not retried.
 *
 * @example
 * throw new TerminalError('spec.image does not parse: fix the WebApp', { cause })
 */
export class TerminalError extends RuntimeError {
  // Open for subclasses of operators, which have their own names.
  override readonly name: string = 'TerminalError'

  constructor(message: string, options?: ErrorOptions) {
    super('TERMINAL', message, options)
  }
}

/**
 * A reconcile writes the same objects again and again, although nothing but its own writes has changed. Retried with
 * backoff, until it comes to rest.
 */
export class FlappingError extends RuntimeError {
  override readonly name = 'FlappingError'

  /** @param objects with the fields that change, such as `ConfigMap shop/web (data.color)` */
  constructor(objects: readonly string[]) {
    super(
      'FLAPPING',
      `its own writes cause the same writes again: ${objects.join('; ')}. Make them depend only on the resource and on ` +
        'what is read, not on the time, random values or a varying order; or stop the webhook or the other manager that ' +
        'changes these fields',
    )
  }
}

/** A controller has an invalid option. Thrown when it is created. */
export class ControllerConfigError extends RuntimeError {
  override readonly name = 'ControllerConfigError'

  constructor(controller: string, option: string, value: unknown, expected: string) {
    super('CONTROLLER_CONFIG', `${option} of the controller ${controller} is ${String(value)}: it must be ${expected}`)
  }
}

/** A reconcile took longer than its `timeoutMs`. The reason of its signal, and its outcome. Retried. */
export class ReconcileTimeoutError extends RuntimeError {
  override readonly name = 'ReconcileTimeoutError'

  constructor(controller: string, key: ObjectKey, timeoutMs: number) {
    super(
      'RECONCILE_TIMEOUT',
      `${controller} took longer than ${timeoutMs} ms for ${formatKey(key)}: pass request.signal to what it waits ` +
        'for, or raise timeoutMs',
    )
  }
}

/** The controller is being stopped, or the object goes to another replica: the reason of the signal of its reconcile. */
export class ControllerStoppingError extends RuntimeError {
  override readonly name = 'ControllerStoppingError'

  constructor(controller: string, options?: ErrorOptions) {
    super('CONTROLLER_STOPPING', `${controller} is being stopped`, options)
  }
}

/** A reconcile did not end after its signal aborted; its client rejects further requests. */
export class ReconcileAbandonedError extends RuntimeError {
  override readonly name = 'ReconcileAbandonedError'

  constructor(controller: string, key: ObjectKey, graceMs: number, options?: ErrorOptions) {
    super(
      'RECONCILE_ABANDONED',
      `${controller} did not finish ${formatKey(key)} within ${graceMs} ms after its signal aborted: ` +
        'it is abandoned and can no longer write',
      options,
    )
  }
}

/** The informers of a controller did not fill in time, usually because a resource is not served or not allowed. */
export class CacheSyncTimeoutError extends RuntimeError {
  override readonly name = 'CacheSyncTimeoutError'

  constructor(controller: string, timeoutMs: number, missing: readonly string[]) {
    super(
      'CACHE_SYNC_TIMEOUT',
      `${controller} waited ${timeoutMs} ms for its caches: ${missing.join('; ')}. Is the cache running, the ` +
        'CustomResourceDefinition installed, and list and watch allowed?',
    )
  }
}
