/** Days for which a proof counts where the config does not say: a hosted model moves. */
export const defaultProofDays = 30
