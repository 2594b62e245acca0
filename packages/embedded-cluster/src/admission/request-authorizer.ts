/** The variable `authorizer` of policies and match conditions: what the user of a request may do. */
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { authenticated, serviceAccountGroups, serviceAccountUsername, type UserInfo } from '../api/user.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import { type AccessChecker, CelAuthorizer } from '../cel/functions/authorization.ts'

/** For one request, whose resource is `authorizer.requestResource`. */
export function requestAuthorizer(authorizer: Authorizer, attributes: AdmissionAttributes): CelAuthorizer {
  const { resource, subresource, namespace, name, user } = attributes
  const request = {
    group: resource.group,
    resource: resource.plural,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
  return new CelAuthorizer({ checker: accessOf(authorizer, user), request })
}

function accessOf(authorizer: Authorizer, user: UserInfo): AccessChecker {
  return {
    check: (access) => authorizer.authorize({ ...access, user }),
    forServiceAccount: (namespace, name) =>
      accessOf(
        authorizer,
        authenticated({
          username: serviceAccountUsername(namespace, name),
          groups: serviceAccountGroups(namespace),
        }),
      ),
  }
}
