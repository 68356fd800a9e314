/** Problems that a person is told of, as sentences without a capital and a full stop. */

export const NO_INVITATION = 'the link of a campaign must be given first';
export const CHANGED = 'what the campaign promises has changed; please read it and choose again';
export const NOT_TAKEN_BACK =
  'what was on this device was deleted, but the organisation did not confirm that it deleted your ' +
  'searches; withdraw them below when its server can be reached';
export const NO_ADDRESS = 'the link of this campaign must be looked up first';
export const NOTHING_TO_SEND = 'no search is ticked, so nothing was sent';
export const UNREACHABLE =
  'the organisation’s server cannot be reached, or does not know this campaign';
export const NOT_AGREED = 'you have not agreed to send your searches as they are';
export const NOT_SHOWN =
  'the campaign has changed, or is not the one shown here; please look up its link and read it';
export const REPORTED =
  'this device has made its one report for this campaign, and that cannot be changed any more';
export const LEFT =
  'this device withdrew its searches from this campaign, which is for good; you can still choose another way';
export const TOO_MUCH =
  'with this choice the campaign may learn more about you than this extension allows';
export const NO_CODE = 'this campaign needs the code that you were given';
export const NO_RELAY = 'this campaign has no relay';
