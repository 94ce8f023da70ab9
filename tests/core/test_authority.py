"""Who may decide, and how many different people it takes: every disguise of SEMANTICS section 5."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.authority import (
    Ballot,
    Delegation,
    Electorate,
    Ground,
    Objection,
    Person,
    alias,
    matching,
    same_person,
)
from app.core.policy.approvers import ApproverRule, Match

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)

ASKER = Person("agent:desk-bot", "agent", "desk-team")
PEOPLE = {
    person.principal: person
    for person in (
        ASKER,
        Person("ada", "human", "ada", frozenset({"supervisor"})),
        Person("ben", "human", "ben", frozenset({"supervisor"})),
        Person("cleo", "human", "cleo", frozenset({"supervisor"})),
        Person("dan", "human", "dan"),
        Person("eve", "human", "eve"),
        Person("ada-phone", "human", "ada", frozenset({"supervisor"})),
        Person("human: Ada", "human", "elsewhere", frozenset({"supervisor"})),
        Person("boss", "human", "desk-team", frozenset({"supervisor"})),
        Person("Desk-Bot", "human", "third", frozenset({"supervisor"})),
        Person("robot", "agent", "robots", frozenset({"supervisor"})),
        Person("slack", "service", "platform"),
        Person("team-bridge", "service", "desk-team"),
    )
}
SUPERVISORS = ApproverRule("supervisors", roles=frozenset({"supervisor"}), quorum=2, via=frozenset({"slack"}))


def electorate(
    *rules: ApproverRule, delegations: Iterable[Delegation] = (), people: Mapping[str, Person] = PEOPLE
) -> Electorate:
    return Electorate(
        rules=rules or (SUPERVISORS,),
        labels=frozenset({"payout", "live"}),
        requester=ASKER,
        person=people.get,
        delegations=tuple(delegations),
        now=NOW,
    )


def lent(lender: str, delegate: str, until: datetime = LATER, labels: Iterable[str] = ()) -> Delegation:
    return Delegation(f"{lender}>{delegate}", lender, delegate, until, frozenset(labels))


def by(*names: str) -> list[Ballot]:
    return [Ballot(name, name) for name in names]


def have(people: Electorate, *names: str) -> int:
    return people.tally(by(*names))[0].have


class TestWhoHasARule:
    def test_by_role(self) -> None:
        (basis,) = electorate().entitle_approval(Ballot("ada", "ada")).bases
        assert (basis.rule, basis.ground, basis.lender) == ("supervisors", Ground.ROLE, "")

    def test_by_name(self) -> None:
        rule = ApproverRule("named", principals=frozenset({"dan"}))
        (basis,) = electorate(rule).entitle_approval(Ballot("dan", "dan")).bases
        assert basis.ground is Ground.NAME

    def test_through_a_delegation(self) -> None:
        (basis,) = electorate(delegations=[lent("ada", "dan")]).entitle_approval(Ballot("dan", "dan")).bases
        assert (basis.ground, basis.lender) == (Ground.DELEGATION, "ada")

    def test_nobody_else(self) -> None:
        assert electorate().entitle_approval(Ballot("dan", "dan")).refusal is Objection.NO_AUTHORITY

    def test_what_was_lent_cannot_be_lent_on(self) -> None:
        people = electorate(delegations=[lent("ada", "dan"), lent("dan", "eve")])
        assert people.entitle_approval(Ballot("eve", "eve")).refusal is Objection.NO_AUTHORITY

    @pytest.mark.parametrize(("until", "counts"), [(NOW, 0), (NOW + timedelta(microseconds=1), 1)])
    def test_a_delegation_is_over_exactly_at_its_time(self, until: datetime, counts: int) -> None:
        people = electorate(delegations=[lent("ada", "dan", until)])
        assert len(people.entitle_approval(Ballot("dan", "dan")).bases) == counts

    @pytest.mark.parametrize(("labels", "counts"), [({"payout"}, 1), ({"refund"}, 0), (set(), 1)])
    def test_a_delegation_may_be_limited_to_labels(self, labels: set[str], counts: int) -> None:
        people = electorate(delegations=[lent("ada", "dan", labels=labels)])
        assert len(people.entitle_approval(Ballot("dan", "dan")).bases) == counts

    def test_agents_never_decide_whatever_their_role(self) -> None:
        assert electorate().entitle_approval(Ballot("robot", "robot")).refusal is Objection.NO_AUTHORITY
        assert electorate().entitle_denial(Ballot("robot", "robot")).refusal is Objection.NO_AUTHORITY

    def test_agents_cannot_be_lent_authority(self) -> None:
        people = electorate(delegations=[lent("ada", "agent:desk-bot")])
        assert people.entitle_approval(Ballot("agent:desk-bot", "agent:desk-bot")).refusal is Objection.NO_AUTHORITY

    def test_whoever_is_unknown_or_revoked_has_nothing(self) -> None:
        without = {name: person for name, person in PEOPLE.items() if name != "ada"}
        people = electorate(delegations=[lent("ada", "dan")], people=without)
        assert people.entitle_approval(Ballot("ada", "ada")).refusal is Objection.NO_AUTHORITY
        assert people.entitle_approval(Ballot("dan", "dan")).refusal is Objection.NO_AUTHORITY


class TestSelfApproval:
    @pytest.mark.parametrize("name", ["boss", "Desk-Bot"])
    def test_not_as_another_principal_of_the_owner_nor_by_alias(self, name: str) -> None:
        assert electorate().entitle_approval(Ballot(name, name)).refusal is Objection.SELF_GRANTED

    def test_not_through_its_own_delegate(self) -> None:
        asker = Person("ann", "human", "ann", frozenset({"supervisor"}))
        people = Electorate(
            (SUPERVISORS,), frozenset(), asker, (PEOPLE | {"ann": asker}).get, (lent("ann", "dan"),), NOW
        )
        assert people.entitle_approval(Ballot("ann", "ann")).refusal is Objection.SELF_GRANTED
        assert people.entitle_approval(Ballot("dan", "dan")).refusal is Objection.SELF_GRANTED

    def test_a_delegate_of_the_requester_with_a_right_of_its_own_votes_by_that(self) -> None:
        asker = Person("ann", "human", "ann", frozenset({"supervisor"}))
        people = Electorate(
            (SUPERVISORS,), frozenset(), asker, (PEOPLE | {"ann": asker}).get, (lent("ann", "ben"),), NOW
        )
        (basis,) = people.entitle_approval(Ballot("ben", "ben")).bases
        assert basis.lender == ""

    def test_not_as_the_owner_itself(self) -> None:
        asker = Person("bot", "agent", "human:Ada")
        people = Electorate((SUPERVISORS,), frozenset(), asker, (PEOPLE | {"bot": asker}).get, (), NOW)
        assert people.entitle_approval(Ballot("ada", "ada")).refusal is Objection.SELF_GRANTED

    def test_only_where_every_matching_rule_lets_it(self) -> None:
        lenient = ApproverRule("lenient", roles=frozenset({"supervisor"}), allow_self_approval=True)
        assert electorate(lenient).entitle_approval(Ballot("boss", "boss")).bases
        mixed = electorate(lenient, SUPERVISORS)
        assert mixed.entitle_approval(Ballot("boss", "boss")).refusal is Objection.SELF_GRANTED

    def test_a_denial_by_the_owner_stands_since_it_only_adds_caution(self) -> None:
        assert electorate().entitle_denial(Ballot("boss", "boss")).bases


class TestBridges:
    def test_a_bridge_that_the_rule_lists_may_name_a_human(self) -> None:
        assert electorate().entitle_approval(Ballot("ada", "slack")).bases

    def test_no_other_bridge(self) -> None:
        rule = ApproverRule("strict", roles=frozenset({"supervisor"}))
        assert electorate(rule).entitle_approval(Ballot("ada", "slack")).refusal is Objection.NO_AUTHORITY

    def test_it_cannot_name_a_service_or_an_agent(self) -> None:
        rule = ApproverRule("open", principals=frozenset({"slack", "team-bridge"}), via=frozenset({"slack"}))
        assert electorate(rule).entitle_approval(Ballot("team-bridge", "slack")).refusal is Objection.NO_AUTHORITY
        assert electorate(rule).entitle_approval(Ballot("robot", "slack")).refusal is Objection.NO_AUTHORITY

    def test_a_bridge_of_the_requesters_owner_is_refused_either_way(self) -> None:
        rule = ApproverRule("via", roles=frozenset({"supervisor"}), via=frozenset({"team-bridge"}))
        ballot = Ballot("ada", "team-bridge")
        assert electorate(rule).entitle_approval(ballot).refusal is Objection.SELF_GRANTED
        assert electorate(rule).entitle_denial(ballot).refusal is Objection.SELF_GRANTED

    def test_who_is_named_may_not_be_who_asked(self) -> None:
        assert electorate().entitle_approval(Ballot("boss", "slack")).refusal is Objection.SELF_GRANTED


class TestQuorum:
    def test_takes_different_people(self) -> None:
        people = electorate()
        assert not people.reached(by("ada"))
        assert people.reached(by("ada", "ben"))

    @pytest.mark.parametrize("other", ["ada", "ada-phone", "human: Ada"])
    def test_one_person_with_two_accounts_is_one(self, other: str) -> None:
        assert have(electorate(), "ada", other) == 1

    def test_lender_and_delegate_are_one_person(self) -> None:
        assert have(electorate(delegations=[lent("ada", "dan")]), "ada", "dan") == 1

    def test_two_delegates_of_one_lender_use_one_authority(self) -> None:
        assert have(electorate(delegations=[lent("ada", "dan"), lent("ada", "eve")]), "dan", "eve") == 1

    def test_delegates_of_different_lenders_are_two(self) -> None:
        assert have(electorate(delegations=[lent("ada", "dan"), lent("ben", "eve")]), "dan", "eve") == 2

    def test_every_matching_rule_needs_its_own(self) -> None:
        lead = ApproverRule("lead", principals=frozenset({"dan"}))
        people = electorate(SUPERVISORS, lead)
        assert not people.reached(by("ada", "ben"))
        assert people.reached(by("ada", "ben", "dan"))

    def test_without_a_rule_nobody_can_approve(self) -> None:
        people = Electorate((), frozenset(), ASKER, PEOPLE.get, (), NOW)
        assert not people.reached(by("ada", "ben", "cleo"))
        assert people.entitle_approval(Ballot("ada", "ada")).refusal is Objection.NO_AUTHORITY

    def test_without_a_rule_an_approvers_denial_still_stands(self) -> None:
        people = Electorate((), frozenset(), ASKER, PEOPLE.get, (), NOW)
        assert people.entitle_denial(Ballot("ada", "ada")).refusal is None
        assert people.entitle_denial(Ballot("ada", "slack")).refusal is Objection.NO_AUTHORITY

    def test_is_counted_with_todays_roles(self) -> None:
        demoted = PEOPLE | {"ben": Person("ben", "human", "ben")}
        assert electorate().reached(by("ada", "ben"))
        assert not electorate(people=demoted).reached(by("ada", "ben"))

    @given(st.lists(st.sampled_from(sorted(PEOPLE)), max_size=8), st.sampled_from(sorted(PEOPLE)))
    def test_a_further_vote_never_lowers_the_count_and_adds_one_at_most(self, names: list[str], more: str) -> None:
        people = electorate(delegations=[lent("ada", "dan"), lent("ben", "eve")])
        assert have(people, *names) <= have(people, *names, more) <= have(people, *names) + 1


class TestMatching:
    ANY = ApproverRule("any", frozenset({"payout", "export"}))
    ALL = ApproverRule("all", frozenset({"live", "schema"}), Match.ALL)
    EVERY = ApproverRule("every")

    def test_by_label(self) -> None:
        assert matching([self.ANY, self.ALL, self.EVERY], frozenset({"payout", "live"}), frozenset()) == (
            self.ANY,
            self.EVERY,
        )

    def test_a_callers_tag_may_add_a_rule_where_one_matches(self) -> None:
        found = matching([self.ANY, self.ALL], frozenset({"payout", "live"}), frozenset({"schema"}))
        assert found == (self.ANY, self.ALL)

    def test_and_never_choose_the_only_one(self) -> None:
        assert matching([self.ANY, self.ALL], frozenset({"live"}), frozenset({"schema", "export"})) == ()


class TestAlias:
    @pytest.mark.parametrize(
        "name",
        [
            "alice",
            "Alice",
            " alice ",
            "agent:alice",
            "human: user:Alice",
            "SERVICE:bot:alice",
            "al\u200bice",
            "al\u00adice",
            "\uff41lice",
            "\uff41\uff47\uff45\uff4e\uff54\uff1aalice",
            "al\ufe0fice",
            "a l i c e",
            "ALICE\u00a0",
            "sa:alice\u2060",
        ],
    )
    def test_sees_through_a_disguise(self, name: str) -> None:
        assert alias(name) == "alice"

    @pytest.mark.parametrize("name", ["alicia", "alice2", "team:alice", "alice-agent:"])
    def test_and_keeps_others_apart(self, name: str) -> None:
        assert alias(name) != "alice"

    @given(st.text(max_size=24))
    def test_is_settled_once_taken(self, name: str) -> None:
        assert alias(alias(name)) == alias(name)

    @given(st.sampled_from(sorted(PEOPLE)), st.sampled_from(sorted(PEOPLE)))
    def test_sameness_does_not_depend_on_who_is_compared_first(self, one: str, other: str) -> None:
        assert same_person(PEOPLE[one], PEOPLE[other]) == same_person(PEOPLE[other], PEOPLE[one])
        assert same_person(PEOPLE[one], PEOPLE[one])
