/** Who owns fields, reports events and labels the namespaces it creates. */
export const FIELD_MANAGER = 'collector-operator'
